import { randomBytes } from 'node:crypto'
import type { TrackingService } from '../../api/endpoints.js'
import { ConfigError, ConnectorError, IncompleteRunError } from '../../base/errors.js'
import type { Logger } from '../../base/logger.js'
import { startHttpServer, type HttpServer } from '../../http/http-server.js'
import { createSampleWait, type SampleCandidate, type SampleWait } from './await-sample.js'
import { readDelivery } from '../receive/delivery.js'
import { findSignature, type SignatureForm } from './find-signature.js'
import { judgeSecret } from './judge-webhooks.js'
import { createSignatureCheck } from '../receive/signature.js'
import { isSameUrl, listWebhookRecords, type WebhookRecord } from './webhook-record.js'

export interface SelfTestDependencies {
  readonly service: Pick<TrackingService, 'triggerWebhook' | 'listWebhooks'>
  readonly logger: Logger
  readonly signal: AbortSignal
  /** TRACKING_WEBHOOK_URL: where the service is asked to send the sample. */
  readonly url: string
  readonly event: string
  /** Ours: deliveries signed with one of them are accepted. */
  readonly secrets: readonly string[]
  /** Where the receiver listens, as `serve` would. */
  readonly host: string
  readonly httpPort: number
  readonly path: string
  readonly signature: SignatureForm
  readonly timeoutMs: number
  /** Told of each step as it ends. */
  readonly onStep?: (step: SelfTestStep) => void
}

export interface SelfTestStep {
  readonly name: 'listen' | 'secret' | 'trigger' | 'delivery' | 'signature' | 'body'
  readonly isOk: boolean
  /** What was seen; with the fix when it failed. */
  readonly detail: string
}

export interface SelfTestReport {
  readonly isPassed: boolean
  readonly steps: readonly SelfTestStep[]
  /** Why the service did not answer or did not accept to send the sample. */
  readonly error?: ConnectorError
}

/**
 * Tests the whole way of a delivery: opens the receiver for a moment, compares the secret of the
 * webhook that sends to our public URL with ours, asks the service to send a sample there, and
 * checks what comes. The sample is signed with a secret made for this one test, so that no real
 * delivery is taken for it: those are answered 503, to be sent again. Stores nothing. Ends at the
 * first step that fails.
 */
export async function testWebhook(dependencies: SelfTestDependencies): Promise<SelfTestReport> {
  const steps: SelfTestStep[] = []
  const pass = (name: SelfTestStep['name'], isOk: boolean, detail: string): boolean => {
    const step = { name, isOk, detail }
    steps.push(step)
    dependencies.onStep?.(step)
    return isOk
  }
  // 64 characters, as the service's own secrets may be; nobody else ever knows it.
  const secret = randomBytes(32).toString('hex')
  const check = createSignatureCheck({ ...dependencies.signature, secrets: [secret] })
  // In another form than the settings say it is our sample all the same, and there is nothing to
  // wait for.
  const wait = createSampleWait(
    ({ rawHeaders, body }) =>
      check(rawHeaders, body) || findSignature(rawHeaders, body, secret) !== undefined,
  )
  const server = await listen(dependencies, wait, pass)
  if (server === undefined) return { isPassed: false, steps }
  try {
    const compared = await compareSecret(dependencies, pass)
    if (compared !== true) return { isPassed: false, steps, error: compared }
    const error = await trigger(dependencies, secret, pass)
    if (error !== undefined) return { isPassed: false, steps, error }
    const sample = await wait.wait(dependencies.timeoutMs, dependencies.signal)
    const isPassed = judge(sample, dependencies, { wait, secret, check, pass })
    return { isPassed, steps }
  } finally {
    await server.stop(0)
  }
}

type Pass = (name: SelfTestStep['name'], isOk: boolean, detail: string) => boolean

async function listen(
  { host, httpPort, path, url, logger }: SelfTestDependencies,
  wait: SampleWait,
  pass: Pass,
): Promise<HttpServer | undefined> {
  // Also at the path of the public address: a proxy should cut it, and when it does not, that is
  // worth knowing.
  const paths = new Set([path, new URL(url).pathname])
  const route = { methods: ['POST'], handle: wait.handle }
  const routes = Object.fromEntries([...paths].map((name) => [name, route]))
  try {
    const server = await startHttpServer({ host, httpPort, routes, logger })
    pass('listen', true, `a receiver listens at ${server.url}${path}`)
    return server
  } catch (thrown) {
    if (!(thrown instanceof ConfigError)) throw thrown
    const code = (thrown.cause as NodeJS.ErrnoException | undefined)?.code
    const where = `${host}:${httpPort}`
    const detail =
      code === 'EADDRINUSE'
        ? `${where} is in use. When that is \`tracking-sync serve\`, test it as it runs: \`tracking-sync webhooks trigger --to ${url}\`, then \`tracking-sync status\` shows one delivery more. Else name another address with --listen`
        : `${where} cannot be listened at: ${thrown.problems.map(({ setting, problem }) => `${setting} ${problem}`).join('; ')}`
    pass('listen', false, detail)
    return undefined
  }
}

/** True when real deliveries would be accepted, as far as the service tells; else why not. */
async function compareSecret(
  { service, signal, url, secrets }: SelfTestDependencies,
  pass: Pass,
): Promise<ConnectorError | true> {
  try {
    const sending = (await listWebhookRecords(service, signal)).filter(
      (webhook) => webhook.url !== null && isSameUrl(webhook.url, url),
    )
    const [alert] = sending.flatMap((webhook) => judgeSecret(webhook, secrets))
    if (alert !== undefined) {
      pass('secret', false, alert.sentence)
      return new IncompleteRunError(alert.sentence)
    }
    pass('secret', true, tellSecrets(sending, url))
    return true
  } catch (thrown) {
    if (!(thrown instanceof ConnectorError)) throw thrown
    pass('secret', false, thrown.message)
    return thrown
  }
}

function tellSecrets(sending: readonly WebhookRecord[], url: string): string {
  const ids = sending.map(({ webhookId }) => webhookId).join(', ')
  if (ids === '') return `no webhook of the account sends to ${url} yet: no secret to compare`
  return sending.every(({ secret }) => secret !== null)
    ? `webhook ${ids} signs with TRACKING_WEBHOOK_SECRET`
    : `the service does not tell the secret of webhook ${ids}: the first real delivery shows whether it is TRACKING_WEBHOOK_SECRET`
}

async function trigger(
  { service, signal, url, event }: SelfTestDependencies,
  secret: string,
  pass: Pass,
): Promise<ConnectorError | undefined> {
  try {
    await service.triggerWebhook({ url, event, secret }, { signal })
    pass('trigger', true, `the service accepted to send a sample of ${event} to ${url}`)
    return undefined
  } catch (thrown) {
    if (!(thrown instanceof ConnectorError)) throw thrown
    pass('trigger', false, thrown.message)
    return thrown
  }
}

interface Judging {
  readonly wait: SampleWait
  readonly secret: string
  readonly check: (rawHeaders: readonly string[], body: Buffer) => boolean
  readonly pass: Pass
}

function judge(
  sample: SampleCandidate | undefined,
  dependencies: SelfTestDependencies,
  { wait, secret, check, pass }: Judging,
): boolean {
  const { path, timeoutMs, secrets } = dependencies
  if (sample === undefined && wait.others.length === 0) {
    const detail = `nothing arrived within ${Math.round(timeoutMs / 1000)} s: see that ${dependencies.url} leads to ${dependencies.host}:${dependencies.httpPort}${path} of this machine (name, proxy, firewall), or wait longer with --timeout`
    return pass('delivery', false, detail)
  }
  // A service may sign its samples with the webhook's own secret.
  const checkOwn =
    secrets.length === 0
      ? () => false
      : createSignatureCheck({ ...dependencies.signature, secrets })
  const isSigned = ({ rawHeaders, body }: SampleCandidate): boolean =>
    check(rawHeaders, body) || checkOwn(rawHeaders, body)
  const arrived = sample ?? wait.others.find(isSigned) ?? wait.others[0]
  if (arrived === undefined) return false
  if (arrived.path !== path) {
    const detail = `it came to ${arrived.path}, and \`serve\` receives at ${path}: set TRACKING_WEBHOOK_PATH=${arrived.path}, or have the proxy change the path`
    return pass('delivery', false, detail)
  }
  pass('delivery', true, `a delivery of ${arrived.body.length} bytes arrived at ${arrived.path}`)
  if (!isSigned(arrived)) {
    return pass('signature', false, explainSignature(arrived, dependencies, secret))
  }
  pass('signature', true, `it is signed in ${dependencies.signature.header} as the settings say`)
  const { envelope, deadReason } = readDelivery(arrived.body, {})
  const { notificationId, event } = envelope
  if (deadReason !== null) {
    return pass('body', false, `it cannot be read: ${deadReason} Please report it`)
  }
  const name = event ?? 'an event without a name'
  return pass('body', true, `it is notification ${notificationId} of ${name}; nothing was stored`)
}

function explainSignature(
  { rawHeaders, body }: SampleCandidate,
  { signature: { header } }: SelfTestDependencies,
  secret: string,
): string {
  const found = findSignature(rawHeaders, body, secret)
  if (found !== undefined) {
    return `it is signed in another form; set TRACKING_WEBHOOK_SIGNATURE_HEADER=${found.header} TRACKING_WEBHOOK_SIGNATURE_ALGORITHM=${found.algorithm} TRACKING_WEBHOOK_SIGNATURE_ENCODING=${found.encoding} TRACKING_WEBHOOK_SIGNATURE_PREFIX=${found.prefix}`
  }
  const names = rawHeaders.filter((_, index) => index % 2 === 0)
  const isThere = names.some((name) => name.toLowerCase() === header.toLowerCase())
  if (isThere) {
    return `what came is not signed with the secret of this test in any form we know; it may be another delivery, or a proxy changes bodies: try again, and see that nothing between rewrites the body`
  }
  return `it has no header ${header}, only ${names.join(', ')}: a proxy may take it away, or the service signs in another way`
}
