import { Counter, Gauge, type Registry } from 'prom-client'
import type { ApiStats } from '../../api/call-runner.js'
import type { JobState } from '../../base/schedule.js'
import type { ReceiverCounts } from '../../webhooks/receive/receiver-counts.js'
import type { ProcessorState } from '../../webhooks/process/run-processor.js'
import { createAckLatency } from './ack-latency.js'
import { METRIC_PREFIX } from './metric-prefix.js'

/** What this process knows without asking anybody. Undefined: it does not run that part. */
export interface ProcessSources {
  readonly programVersion: string
  readonly receiver: () => ReceiverCounts | undefined
  readonly processor: () => ProcessorState | undefined
  readonly jobs: () => readonly JobState[]
  readonly api: () => ApiStats
}

type Values = readonly (readonly [labels: Readonly<Record<string, string>>, value: number])[]

/** What this process has done since it started; kept up also while the database is away. */
export function addProcessMetrics(registry: Registry, sources: ProcessSources): void {
  const { receiver, processor, jobs, api } = sources
  const count = (name: string, help: string, labelNames: readonly string[], read: () => Values) =>
    new Counter({
      name: `${METRIC_PREFIX}${name}`,
      help,
      labelNames,
      registers: [registry],
      collect() {
        this.reset()
        for (const [labels, value] of read()) this.inc(labels, value)
      },
    })
  const gauge = (name: string, help: string, labelNames: readonly string[], read: () => Values) =>
    new Gauge({
      name: `${METRIC_PREFIX}${name}`,
      help,
      labelNames,
      registers: [registry],
      collect() {
        this.reset()
        for (const [labels, value] of read()) this.set(labels, value)
      },
    })
  gauge('info', 'Version of the program.', ['version'], () => [
    [{ version: sources.programVersion }, 1],
  ])
  count(
    'webhook_deliveries_total',
    'Deliveries answered, by what became of them.',
    ['result'],
    () => deliveryValues(receiver()),
  )
  registry.registerMetric(
    createAckLatency(`${METRIC_PREFIX}webhook_ack_seconds`, () => receiver()?.ackLatency),
  )
  count(
    'notifications_settled_total',
    'Notifications this process applied or put aside, by what became of them; failed counts attempts.',
    ['result'],
    () => settledValues(processor()),
  )
  count('refetches_total', 'Records this process refetched by id.', [], () => [
    [{}, processor()?.refetched ?? 0],
  ])
  gauge(
    'processor_failing',
    '1 while the processor of this process cannot work, for the database or the service; see the log.',
    [],
    () => [[{}, (processor()?.lastError ?? null) === null ? 0 : 1]],
  )
  count(
    'api_requests_total',
    'Requests this process made to the service, every attempt counted.',
    [],
    () => [[{}, api().requests]],
  )
  count('api_retries_total', 'Requests of this process that were tried again.', [], () => [
    [{}, api().retries],
  ])
  count('api_rate_limited_total', 'Requests the service answered 429.', [], () => [
    [{}, api().rateLimited],
  ])
  count('job_failures_total', 'Scheduled jobs that failed or did not end complete.', ['job'], () =>
    jobs().map(({ name, failures }) => [{ job: name }, failures]),
  )
  gauge('job_running', '1 while a scheduled job runs here.', ['job'], () =>
    jobs().map(({ name, isRunning }) => [{ job: name }, isRunning ? 1 : 0]),
  )
  gauge(
    'job_last_success_timestamp_seconds',
    'End of the last scheduled job that did not fail, in this process.',
    ['job'],
    () =>
      jobs().flatMap(({ name, lastSuccessAt }) =>
        lastSuccessAt === undefined ? [] : [[{ job: name }, lastSuccessAt.getTime() / 1000]],
      ),
  )
}

function deliveryValues(counts: ReceiverCounts | undefined): Values {
  if (counts === undefined) return []
  return [
    [{ result: 'stored' }, counts.stored],
    [{ result: 'duplicate' }, counts.duplicates],
    [{ result: 'unavailable' }, counts.unavailable],
    [{ result: 'aborted' }, counts.aborted],
    ...Object.entries(counts.refused).map(
      ([reason, count]) => [{ result: `refused_${reason}` }, count] as const,
    ),
  ]
}

function settledValues(state: ProcessorState | undefined): Values {
  if (state === undefined) return []
  const { processed, ignored, foreign, unresolved, failed } = state
  return Object.entries({ processed, ignored, foreign, unresolved, failed }).map(
    ([result, count]) => [{ result }, count],
  )
}
