import type { Metric, MetricObjectWithValues, MetricValue } from 'prom-client'
import type { LatencyHistogram } from '../../webhooks/receive/receiver-counts.js'

/** A histogram whose buckets somebody else counts: the library has none that takes them as they are. */
class CountedHistogram {
  readonly name: string
  readonly help: string
  readonly type = 'histogram'
  readonly aggregator = 'sum'
  readonly #read: () => LatencyHistogram | undefined

  constructor(name: string, help: string, read: () => LatencyHistogram | undefined) {
    this.name = name
    this.help = help
    this.#read = read
  }

  get(): Promise<MetricObjectWithValues<MetricValue<string>>> {
    const { name, help, type, aggregator } = this
    const values = bucketValues(name, this.#read())
    const described = { name, help, type, aggregator, values }
    return Promise.resolve(described as unknown as MetricObjectWithValues<MetricValue<string>>)
  }

  reset(): void {
    // The counts are not ours.
  }
}

function bucketValues(name: string, latency: LatencyHistogram | undefined): unknown[] {
  if (latency === undefined) return []
  return [
    ...latency.buckets.map(({ upToMs, count }) => ({
      metricName: `${name}_bucket`,
      labels: { le: upToMs / 1000 },
      value: count,
    })),
    { metricName: `${name}_bucket`, labels: { le: '+Inf' }, value: latency.count },
    { metricName: `${name}_sum`, labels: {}, value: latency.sumMs / 1000 },
    { metricName: `${name}_count`, labels: {}, value: latency.count },
  ]
}

/** Seconds from the headers of a delivery to its answer; without a receiver there are none. */
export function createAckLatency(
  name: string,
  read: () => LatencyHistogram | undefined,
): Metric<'le'> {
  const help = 'From the headers of an accepted delivery to its answer.'
  return new CountedHistogram(name, help, read) as unknown as Metric<'le'>
}
