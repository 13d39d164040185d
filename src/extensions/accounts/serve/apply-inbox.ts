import { watchSettingsOf } from '../../../config/needed-settings.js'
import { NotificationProcessor } from '../../../webhooks/process/process-notifications.js'
import { RefetchWorker } from '../../../webhooks/process/refetch-worker.js'
import { closeUnresolved } from '../../../webhooks/process/claim-notifications.js'
import { readQueues } from '../../../status/read-vitals.js'
import type { JobDependencies } from '../../../serve/jobs.js'
import { PACE } from '../../../serve/serve-dependencies.js'

/** Where notifications are applied by workers, this is a job of its own. */
export const INBOX_JOB = 'inbox'

/** A delivery asks for it at once: this is for a question that was lost. */
export const INBOX_RHYTHM = { everyMs: 300_000 }

/**
 * Applies the waiting notifications of the inbox and reads the due refetches, once. Returns the
 * time until the next refetch is due; undefined when none is left.
 */
export async function applyInbox(dependencies: JobDependencies): Promise<number | undefined> {
  const { config, runSettings, warehouse } = dependencies
  const { refetchDelayMs } = { ...PACE, ...dependencies.pace }
  const settings = { ...runSettings, refetchDelayMs, own: watchSettingsOf(config) }
  const parts = { ...dependencies, settings }
  await new NotificationProcessor(parts).processAll()
  await new RefetchWorker({ ...parts, refetchDelayMs }).readDue()
  await closeUnresolved(warehouse)
  const isWaiting = (await readQueues(warehouse)).some(
    ({ queue, state }) =>
      queue === 'refetch_queue' || (queue === 'webhook_notifications' && state === 'received'),
  )
  return isWaiting ? Math.max(refetchDelayMs, SOONEST_MS) : undefined
}

const SOONEST_MS = 2_000
