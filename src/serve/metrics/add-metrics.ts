import { Counter, Gauge, type Registry } from 'prom-client'

/** Of every metric that is ours; those of Node.js have the names all programs give them. */
export const PREFIX = 'tracking_sync_'

/** One metric. Its name, without the prefix, is the member that it stands under. */
export interface DescribedMetric<Facts> {
  /** A gauge unless given. */
  readonly type?: 'counter'
  readonly help: string
  readonly labelNames?: readonly string[]
  readonly read: (facts: Facts) => Values
}

export type Values = readonly (readonly [labels: Readonly<Record<string, string>>, value: number])[]

/** Each metric is read anew from the facts whenever the registry is printed. */
export function addMetrics<Facts>(
  registry: Registry,
  metrics: Readonly<Record<string, DescribedMetric<Facts>>>,
  facts: () => Facts,
): void {
  for (const [name, { type, help, labelNames = [], read }] of Object.entries(metrics)) {
    const Metric = type === 'counter' ? Counter : Gauge
    new Metric({
      name: `${PREFIX}${name}`,
      help,
      labelNames,
      registers: [registry],
      collect() {
        this.reset()
        // The library gives a metric without labels a zero to begin with.
        if (labelNames.length === 0) this.remove()
        for (const [labels, value] of read(facts())) this.inc(labels, value)
      },
    })
  }
}
