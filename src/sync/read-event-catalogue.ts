import { takeIn } from '../ingest/intake.js'
import type { Run } from '../ingest/run.js'
import { storeIntake } from '../ingest/store-intake.js'

/** Reads the catalogue of events that a webhook can subscribe to: one request. */
export async function readEventCatalogue(run: Run): Promise<void> {
  const stream = 'webhook_event_categories'
  const counter = run.ledger.counter(stream)
  const answer = await run.service.getWebhookEvents({ signal: run.signal, counter })
  const intake = takeIn(answer.document, {
    stream,
    source: '/webhooks/events',
    observedAt: answer.observedAt,
    completeTypes: new Set(),
  })
  await storeIntake(run, intake)
}
