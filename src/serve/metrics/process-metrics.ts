import type { Metric } from 'prom-client'
import type { ApiStats } from '../../api/client.js'
import type { JobState } from '../../base/schedule.js'
import type { ProcessorState } from '../../webhooks/process/run-processor.js'
import type { LatencyHistogram, ReceiverCounts } from '../../webhooks/receive/receiver-counts.js'
import type { DescribedMetric, Values } from './add-metrics.js'

/** What this process knows without asking. Undefined: it does not run that part. */
export interface ProcessFacts {
  readonly programVersion: string
  readonly receiver: ReceiverCounts | undefined
  readonly processor: ProcessorState | undefined
  readonly jobs: readonly JobState[]
  readonly api: ApiStats
}

/** What this process has done since it started; also while the database is away. */
export const PROCESS_METRICS: Readonly<Record<string, DescribedMetric<ProcessFacts>>> = {
  info: {
    help: 'Version of the program.',
    labelNames: ['version'],
    read: ({ programVersion }) => [[{ version: programVersion }, 1]],
  },
  webhook_deliveries_total: {
    type: 'counter',
    help: 'Deliveries answered, by result.',
    labelNames: ['result'],
    read: ({ receiver }) => deliveryValues(receiver),
  },
  notifications_handled_total: {
    type: 'counter',
    help: 'Notifications this process handled, by result; failed counts attempts.',
    labelNames: ['result'],
    read: ({ processor }) => handledValues(processor),
  },
  refetches_total: {
    type: 'counter',
    help: 'Records this process refetched by id.',
    read: ({ processor }) => [[{}, processor?.refetched ?? 0]],
  },
  processor_failing: {
    help: '1 while the processor of this process cannot work; the log says why.',
    read: ({ processor }) => [[{}, (processor?.lastError ?? null) === null ? 0 : 1]],
  },
  api_requests_total: {
    type: 'counter',
    help: 'Requests this process made to the service, every attempt counted.',
    read: ({ api }) => [[{}, api.requests]],
  },
  api_retries_total: {
    type: 'counter',
    help: 'Requests this process tried again.',
    read: ({ api }) => [[{}, api.retries]],
  },
  api_rate_limited_total: {
    type: 'counter',
    help: 'Requests the service answered 429.',
    read: ({ api }) => [[{}, api.rateLimited]],
  },
  job_failures_total: {
    type: 'counter',
    help: 'Scheduled jobs that failed or did not end complete.',
    labelNames: ['job'],
    read: ({ jobs }) => jobs.map(({ name, failures }) => [{ job: name }, failures]),
  },
  job_running: {
    help: '1 while a scheduled job runs here.',
    labelNames: ['job'],
    read: ({ jobs }) => jobs.map(({ name, isRunning }) => [{ job: name }, isRunning ? 1 : 0]),
  },
  job_last_success_timestamp_seconds: {
    help: 'End of the last scheduled job that succeeded in this process.',
    labelNames: ['job'],
    read: ({ jobs }) =>
      jobs.flatMap(({ name, lastSuccessAt }) =>
        lastSuccessAt === undefined ? [] : [[{ job: name }, lastSuccessAt.getTime() / 1000]],
      ),
  },
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

function handledValues(state: ProcessorState | undefined): Values {
  if (state === undefined) return []
  const { processed, ignored, foreign, unresolved, failed } = state
  return Object.entries({ processed, ignored, foreign, unresolved, failed }).map(
    ([result, count]) => [{ result }, count],
  )
}

/**
 * Seconds from the headers of a delivery to its answer. The receiver counts the buckets itself,
 * and the library has no histogram that takes them as they are.
 */
export function ackLatency(name: string, facts: () => ProcessFacts): Metric<'le'> {
  const type = 'histogram'
  const help = 'From the headers of an accepted delivery to its answer.'
  const get = () => {
    const values = bucketValues(name, facts().receiver?.ackLatency)
    return Promise.resolve({ name, help, type, aggregator: 'sum', values })
  }
  const reset = () => undefined
  return { name, help, type, get, reset } as unknown as Metric<'le'>
}

function bucketValues(name: string, latency: LatencyHistogram | undefined): object[] {
  if (latency === undefined) return []
  const { buckets, count, sumMs } = latency
  const metricName = `${name}_bucket`
  return [
    ...buckets.map((one) => ({ metricName, labels: { le: one.upToMs / 1000 }, value: one.count })),
    { metricName, labels: { le: '+Inf' }, value: count },
    { metricName: `${name}_sum`, labels: {}, value: sumMs / 1000 },
    { metricName: `${name}_count`, labels: {}, value: count },
  ]
}
