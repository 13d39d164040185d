import { raiseAlerts, type AlertDependencies } from '../../../src/extensions/alerts/raise-alerts.js'
import type { AlertSettings } from '../../../src/extensions/alerts/alert-channels.js'
import { chosenAlerts } from '../../../src/extensions/alerts/alert-names.js'
import { noFailpoints } from '../../../src/base/failpoint.js'
import { silentLogger } from '../../../src/base/logger.js'
import { borrowTestWarehouse } from '../../support/reused-warehouse.js'
import { startSmtpReceiver, type SmtpReceiver } from '../../support/smtp-receiver.js'
import type { TestWarehouse } from '../../support/test-warehouse.js'
import { startWebhookReceiver, type WebhookReceiver } from '../../support/webhook-receiver.js'

export const SECRET = 'a secret of enough characters'

export interface AlertScene extends Omit<TestWarehouse, 'url' | 'drop'> {
  readonly receiver: WebhookReceiver
  readonly smtp: SmtpReceiver
  /** A webhook alone, unless a test sets others. */
  settings: AlertSettings
  /** One look, at an instant like `2026-11-24T10:00:00Z`. */
  look(at: string, more?: Partial<AlertDependencies>): Promise<void>
  /** Messages that the webhook received, in order: `event title`. */
  received(): string[]
  /** Puts so many records into the quarantine: an alert that a test can open and close. */
  quarantine(count: number): Promise<void>
  close(): Promise<void>
}

export async function openAlertScene(): Promise<AlertScene> {
  const { drop, ...target } = await borrowTestWarehouse()
  const { warehouse } = target
  const receiver = await startWebhookReceiver()
  const smtp = await startSmtpReceiver()
  const scene: AlertScene = {
    ...target,
    receiver,
    smtp,
    settings: {
      webhook: { url: receiver.url, secret: SECRET },
      names: chosenAlerts('all'),
      digestHour: 7,
      timeZone: 'UTC',
    },
    look: (at, more = {}) =>
      raiseAlerts({
        warehouse,
        settings: scene.settings,
        logger: silentLogger,
        redact: (text) => text,
        reachFailpoint: noFailpoints,
        facts: () => Promise.resolve({ slots: { cron: 'off', timeZone: 'UTC' }, isServing: false }),
        requestLimit: 90,
        signal: new AbortController().signal,
        isAfterRun: false,
        at,
        ...more,
      }),
    received: () =>
      receiver.deliveries.map(({ body }) => {
        const { event, title } = JSON.parse(body.toString()) as Record<string, string>
        return `${event!} ${title!}`
      }),
    quarantine: async (count) => {
      await target.run`delete from tracking_sync.quarantine`
      await target.run`
        insert into tracking_sync.quarantine
            (stream, reason, pointer, payload, payload_hash, source)
        select 'shipments', 'no id', '', '{}', n::text, 'test'
        from generate_series(1, ${count}::int) as n`
    },
    close: async () => {
      await receiver.close()
      await smtp.close()
      await drop()
    },
  }
  return scene
}
