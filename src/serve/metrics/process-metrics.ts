import { Histogram } from 'prom-client'
import type { ApiStats } from '../../api/client.js'
import type { JobState } from '../../base/schedule.js'
import type { ProcessorState } from '../../webhooks/process/run-processor.js'
import type { ReceiverCounts } from '../../webhooks/receive/receive.js'
import { PREFIX, type DescribedMetric, type Values } from './add-metrics.js'

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
  const results = Object.entries(counts ?? {}).filter(([result]) => result !== 'received')
  return results.map(([result, count]) => [{ result }, count])
}

function handledValues(state: ProcessorState | undefined): Values {
  if (state === undefined) return []
  const { processed, ignored, foreign, unresolved, failed } = state
  return Object.entries({ processed, ignored, foreign, unresolved, failed }).map(
    ([result, count]) => [{ result }, count],
  )
}

/** Each receiver has its own: it counts before `/metrics` is asked for. */
export function createAckSeconds(): Histogram {
  return new Histogram({
    name: `${PREFIX}webhook_ack_seconds`,
    help: 'From the headers of an accepted delivery to its answer.',
    buckets: [0.001, 0.002, 0.005, 0.01, 0.015, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5],
    registers: [],
  })
}
