import type { App } from '../../../app.js'
import { ConfigError, ConnectorError, type ConfigProblem } from '../../../base/errors.js'
import { presetNames, readPreset } from '../../../config/presets.js'
import type { SettingName } from '../../../config/settings.js'
import { checkDatabase, checkService } from '../../doctor/commands/check.js'

export type Answers = Partial<Record<SettingName, string>>

export interface Question {
  /** Settings that an answer may change; the first given one counts as the answer. */
  readonly names: readonly SettingName[]
  readonly text: string
  /** The meaning of Enter alone, as the end of "Enter …". */
  readonly onEnter?: string
  readonly isSecret?: true
  /**
   * The settings that an answer means; empty to set nothing. Throws ConfigError for an impossible
   * one.
   */
  readonly read: (answer: string) => Answers
  /** The command continues without an answer. */
  readonly isOptional?: true
  /** Tests the present answer and returns a line about it; throws the problem. */
  readonly test: (app: App) => Promise<string>
}

/** The questions in their order. */
export const QUESTIONS: readonly Question[] = [
  {
    names: ['service', 'apiUrl'],
    text: `1. Service: a preset (${presetsOfServices().join(', ')}) or the base address of another`,
    read: readService,
    test: testAddress,
  },
  {
    names: ['apiKey'],
    text: '2. API key of your account',
    isSecret: true,
    read: (apiKey) => ({ apiKey }),
    test: async (app) => `the service ${await checkService(app)}`,
  },
  {
    names: ['databaseUrl'],
    text: '3. Address of a PostgreSQL database, with its password',
    onEnter: 'for the embedded one',
    isSecret: true,
    read: (databaseUrl): Answers => (databaseUrl === '' ? {} : { databaseUrl }),
    test: checkDatabase,
  },
  {
    names: ['webhookUrl'],
    text: '4. Address at which the service reaches our receiver of webhooks',
    onEnter: 'for none',
    isOptional: true,
    read: (webhookUrl) => ({ webhookUrl }),
    test: testWebhook,
  },
  {
    names: ['webhookSecret'],
    text: '5. Secret of the webhook',
    onEnter: 'if the service makes it or you have no webhook',
    isSecret: true,
    isOptional: true,
    read: (webhookSecret) => ({ webhookSecret }),
    test: testSecret,
  },
]

/** Settings of the environment that are written to the file. */
export const GIVEN_NAMES: readonly SettingName[] = [
  ...QUESTIONS.flatMap(({ names }) => names),
  'readerUrl',
]

/** Problems to report without a terminal to ask at. */
export const MISSING: Partial<Record<SettingName, ConfigProblem>> = {
  service: {
    setting: '--service',
    problem: 'is not given; name a preset, or give --api-url',
  },
  apiKey: {
    setting: 'TRACKING_API_KEY',
    problem: 'is not set; put the key there, or into a file that TRACKING_API_KEY_FILE names',
  },
  databaseUrl: {
    setting: 'DATABASE_URL',
    problem: 'is not set; set it, or choose the embedded database with --embedded',
  },
}

function presetsOfServices(): readonly string[] {
  return presetNames().filter((name) => readPreset(name).apiUrl !== undefined)
}

function testAddress({ config: { service, apiUrl } }: App): Promise<string> {
  if (apiUrl === undefined) {
    const problem = `is not set, and the preset ${service} has no address; give --api-url`
    throw new ConfigError([{ setting: 'TRACKING_API_URL', problem }])
  }
  return Promise.resolve(service === 'generic' ? apiUrl : `${apiUrl} (preset ${service})`)
}

function readService(answer: string): Answers {
  if (URL.canParse(answer)) return { service: 'generic', apiUrl: answer }
  return { service: answer }
}

/**
 * Settles the login of own SQL and returns a line about it: the configured one, that of `.env` if
 * it is still right, or a new one, if the database lets us create it; `take` gets an address to
 * write.
 */
export async function settleReader(
  app: App,
  old: string | undefined,
  take: (readerUrl: string) => void,
): Promise<string> {
  const { createReaderLogin, describeReader } = await import('../../doctor/reader-rights.js')
  const { databaseUrl = '', readerUrl } = app.config
  const own = { url: databaseUrl, isOwn: true }
  if (readerUrl !== undefined) return describeReader(await app.connectReader(), own)
  if (old !== undefined && placeOf(old) === placeOf(databaseUrl)) {
    try {
      return await describeReader(await app.connect({ url: old }), own)
    } catch (thrown) {
      if (!(thrown instanceof ConnectorError)) throw thrown
    }
  }
  const warehouse = await app.connect()
  const made = await createReaderLogin(warehouse, databaseUrl)
  if (made === undefined) return describeReader(warehouse, { ...own, isOwn: false })
  take(made)
  return `own SQL is asked as ${new URL(made).username}, a new login, which may only read`
}

function placeOf(address: string): string {
  const { host, pathname } = new URL(address)
  return `${host}${pathname}`
}

async function testWebhook(app: App): Promise<string> {
  const { checkTargetUrl } = await import('../webhooks/create-webhook.js')
  const { webhookUrl = '' } = app.config
  checkTargetUrl('TRACKING_WEBHOOK_URL', webhookUrl)
  const { listWebhookRecords, sendsTo } = await import('../../../webhooks/manage/own-webhooks.js')
  const { service } = await app.openService()
  const listed = await listWebhookRecords(service, app.signal)
  const own = listed.filter((webhook) => sendsTo(webhook, webhookUrl))
  return own.length === 0
    ? 'no webhook sends there yet: `tracking-sync webhooks create` makes one'
    : `webhook ${own.map(({ webhookId }) => webhookId).join(', ')} sends there`
}

async function testSecret(app: App): Promise<string> {
  const { checkSecret } = await import('../../../webhooks/manage/check-webhooks.js')
  const { listWebhookRecords, sendsTo } = await import('../../../webhooks/manage/own-webhooks.js')
  const { webhookUrl, webhookSecret = '' } = app.config
  const { service } = await app.openService()
  const own = (await listWebhookRecords(service, app.signal)).filter(
    (webhook) => webhookUrl !== undefined && sendsTo(webhook, webhookUrl),
  )
  const [alert] = own.flatMap((webhook) => checkSecret(webhook, [webhookSecret]))
  if (alert === undefined) return 'the secret is well-formed, and no webhook says otherwise'
  throw new ConfigError([{ setting: 'TRACKING_WEBHOOK_SECRET', problem: alert.sentence }])
}
