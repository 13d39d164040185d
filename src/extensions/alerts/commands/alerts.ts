import { randomUUID } from 'node:crypto'
import type { MessageRow } from '../stored-alerts.js'
import { ConfigError } from '../../../base/errors.js'
import { EXIT_CODES } from '../../../base/exit-code.js'
import { countOf, formatSeconds } from '../../../base/phrases.js'
import {
  declare,
  group,
  list as listOf,
  type ExtendCommand,
} from '../../../commands/declare-command.js'
import type { Part } from '../../../commands/output/print-table.js'
import { alertSettingsOf } from '../alert-channels.js'
import type { alertSettings } from '../alert-settings.js'
import type { SettingName } from '../../../config/settings.js'
import { finishing } from './on-finish.js'

type FlagSetting = keyof (typeof alertSettings)['settings'] | SettingName

const NO_CHANNEL =
  'No channel is set, so nothing is sent: set TRACKING_ALERT_WEBHOOK_URL, ' +
  'TRACKING_ALERT_SLACK_URL, TRACKING_ALERT_TEAMS_URL or TRACKING_ALERT_SMTP_URL.'

const list = declare({
  name: 'list',
  isDefault: true,
  help: 'Show the open alerts and the fate of their messages.',
  run: async (app) => {
    const { readAlerts } = await import('../stored-alerts.js')
    const { channelsOf } = await import('../alert-channels.js')
    const channels = channelsOf(alertSettingsOf(app.config))
    const answer = await readAlerts(await app.openWarehouse())
    const { operations, exceptions, messages } = answer
    const parts: Part[] = []
    if (operations.length === 0) parts.push('No alert of this program is open.')
    else {
      const rows = operations.map(({ name, ageSeconds, sentence }) => [
        name,
        formatSeconds(ageSeconds),
        sentence,
      ])
      parts.push({ columns: ['alert', 'open for', 'problem'], rows })
    }
    if (exceptions.length > 0) {
      const rows = exceptions.map(({ name, severity, open, untold }) => [
        name,
        severity,
        open,
        untold,
      ])
      parts.push('', { columns: ['exception', 'severity', 'open', 'in no digest yet'], rows })
    }
    if (messages.length > 0) {
      const columns = ['channel', 'message', 'state', 'age', 'tried', 'reason']
      parts.push('', { columns, rows: messages.map(describeMessage) })
    }
    const lost = messages.filter(({ state }) => state === 'in_doubt' || state === 'given_up')
    if (lost.length > 0) {
      const ids = lost.map(({ messageId }) => messageId).join(' ')
      parts.push('', 'To send again what may have arrived or was given up:')
      parts.push(`  tracking-sync alerts resend ${ids}`)
    }
    if (channels.length === 0) parts.push('', NO_CHANNEL)
    return { data: { channels, ...answer }, text: parts }
  },
})

function describeMessage({ channel, title, state, ageSeconds, attempts, error }: MessageRow) {
  return [channel, title, state.replace('_', ' '), formatSeconds(ageSeconds), attempts, error]
}

const test = declare({
  name: 'test',
  help:
    'Send a test through every channel that is set, and say what happened. ' +
    'Exit code 6 when one refused it. Needs no database.',
  ofExtension: ['alertSmtpFrom', 'alertSmtpTo'] satisfies FlagSetting[],
  run: async (app) => {
    const { channelsOf } = await import('../alert-channels.js')
    const { sendMessage } = await import('../deliver-messages.js')
    const { testContent } = await import('../message.js')
    const settings = alertSettingsOf(app.config)
    const channels = channelsOf(settings)
    if (channels.length === 0) {
      const problem = 'is not set, and neither is another channel; nothing can be sent'
      throw new ConfigError([{ setting: 'TRACKING_ALERT_WEBHOOK_URL', problem }])
    }
    const results = await Promise.all(
      channels.map(async (channel) => {
        const id = randomUUID()
        const delivery = await sendMessage(settings, channel, {
          id,
          event: 'test',
          createdAt: new Date().toISOString(),
          content: testContent(),
          warehouse: app.config.schema,
        })
        const said = delivery.outcome === 'sent' ? delivery.note : delivery.reason
        const detail =
          delivery.outcome === 'sent' ? ['took it', ...(said === undefined ? [] : [said])] : [said]
        const isOk = delivery.outcome === 'sent'
        return { name: channel, isOk, id, detail: app.redact(detail.join('; ')) }
      }),
    )
    return {
      data: results,
      text: results.map(({ name, isOk, detail }) => ({ name, isOk, detail })),
      exitCode: results.every(({ isOk }) => isOk) ? EXIT_CODES.complete : EXIT_CODES.incomplete,
    }
  },
})

const resend = declare({
  name: 'resend',
  help:
    'Have messages sent again that are in doubt or were given up: by the next run, or by serve. ' +
    'One in doubt may have arrived.',
  takes: { ids: listOf('<ids...>', 'Ids of messages, from `alerts --json`.') },
  run: async (app, { ids }) => {
    const { resendMessages } = await import('../stored-alerts.js')
    const warehouse = await app.openWarehouse({ isWriting: true })
    const resent = await resendMessages(warehouse, ids)
    const others = ids.filter((id) => !resent.includes(id.toLowerCase()))
    return {
      data: { resent, others },
      text: [`${countOf(resent.length, 'message')} will be sent again.`],
      ...(others.length > 0 && {
        exitCode: EXIT_CODES.config,
        error: `neither in doubt nor given up: ${others.join(', ')}`,
      }),
    }
  },
})

export const alerts = group(
  'alerts',
  'Show and test the messages that people get about problems.',
  [list, test, resend],
)

/** Commands that send alerts take their settings; secret ones lack a flag. */
const sending: ExtendCommand = (declaration) => ({
  ...declaration,
  ofExtension: [
    'alertSmtpFrom',
    'alertSmtpTo',
    'alertKinds',
    'cronTimeZone',
  ] satisfies FlagSetting[],
})

/** Additions to commands of the core: a run also has a command of the user for its end. */
export const sendingCommands: Readonly<Record<string, ExtendCommand>> = {
  backfill: (declaration) => finishing(sending(declaration)),
  sync: (declaration) => finishing(sending(declaration)),
  serve: sending,
}
