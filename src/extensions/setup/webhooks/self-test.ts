import { createHmac, randomBytes } from 'node:crypto'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { setTimeout as delay } from 'node:timers/promises'
import type { TrackingService } from '../../../source/client/endpoints.js'
import { ConfigError, ConnectorError, IncompleteRunError } from '../../../base/errors.js'
import type { Logger } from '../../../base/logger.js'
import { answer } from '../../../http/answer.js'
import { startHttpServer, type HttpServer } from '../../../http/http-server.js'
import { createBodyMemory, readBody } from '../../../http/read-body.js'
import { checkSecret } from '../../../webhooks/manage/check-webhooks.js'
import { listWebhookRecords, sendsTo } from '../../../webhooks/manage/own-webhooks.js'
import { readDelivery } from '../../../webhooks/receive/delivery.js'
import { DEFAULT_RECEIVER_LIMITS } from '../../../webhooks/receive/receive.js'
import {
  createSignatureCheck,
  type SignatureCheck,
  type SignatureSettings,
} from '../../../webhooks/receive/signature.js'

export interface SelfTestDependencies {
  readonly service: Pick<TrackingService, 'triggerWebhook' | 'listWebhooks'>
  readonly logger: Logger
  readonly signal: AbortSignal
  /** TRACKING_WEBHOOK_URL: the address that the service must send the sample to. */
  readonly url: string
  readonly event: string
  /** Our secrets: deliveries signed with one of them are accepted. */
  readonly secrets: readonly string[]
  /** The address that the receiver listens at, as `serve` would. */
  readonly host: string
  readonly httpPort: number
  readonly path: string
  readonly signature: SignatureForm
  readonly timeoutMs: number
  /** Called with each step as it ends. */
  readonly onStep?: (step: SelfTestStep) => void
}

export interface SelfTestStep {
  readonly name: 'listen' | 'secret' | 'trigger' | 'delivery' | 'signature' | 'body'
  readonly isOk: boolean
  /** The observation; with the fix if the step failed. */
  readonly detail: string
}

export interface SelfTestReport {
  readonly isPassed: boolean
  readonly steps: readonly SelfTestStep[]
  /** The service's error, if it failed or refused to send the sample. */
  readonly error?: ConnectorError
}

/**
 * Tests the whole way of a delivery: opens the receiver for a moment, compares our secret with that
 * of the webhook that sends to our public URL, asks the service to send a sample there, and checks
 * the sample. A secret made for this test signs the sample, so that no real delivery can pass for
 * it: real ones are answered 503, so that the service sends them again. Stores nothing. Ends at the
 * first step that fails.
 */
export async function testWebhook(dependencies: SelfTestDependencies): Promise<SelfTestReport> {
  const steps: SelfTestStep[] = []
  const add = (step: SelfTestStep): void => {
    steps.push(step)
    dependencies.onStep?.(step)
  }
  let server: HttpServer | undefined
  try {
    const receiver = new SampleReceiver(dependencies)
    server = await listen(dependencies, receiver)
    add(passed('listen', `a receiver listens at ${server.url}${dependencies.path}`))
    add(await compareSecret(dependencies))
    add(await trigger(dependencies, receiver.secret))
    for (const step of checkArrival(await receiver.wait(dependencies), dependencies, receiver))
      add(step)
    return { isPassed: true, steps }
  } catch (thrown) {
    if (!(thrown instanceof FailedStep)) throw thrown
    add({ name: thrown.step, isOk: false, detail: thrown.message })
    return { isPassed: false, steps, ...(thrown.error && { error: thrown.error }) }
  } finally {
    await server?.stop(0)
  }
}

function passed(name: SelfTestStep['name'], detail: string): SelfTestStep {
  return { name, isOk: true, detail }
}

class FailedStep extends Error {
  override readonly name = 'FailedStep'
  readonly step: SelfTestStep['name']
  readonly error: ConnectorError | undefined

  constructor(step: SelfTestStep['name'], detail: string, error?: ConnectorError) {
    super(detail)
    this.step = step
    this.error = error
  }
}

/** A request that arrived during the wait for the sample. */
interface Arrival {
  readonly path: string
  readonly rawHeaders: readonly string[]
  readonly body: Buffer
  /** Signed with the secret of this test, in any form; the form is found later. */
  readonly isSample: boolean
}

const MOST_OTHERS = 10

/** Answers the sample 202, and all else 503: it may be a real delivery. */
class SampleReceiver {
  /** 64 characters, like a secret of the service. It is known to this test only. */
  readonly secret = randomBytes(32).toString('hex')
  /** Whether a delivery is signed in the form of the settings. */
  readonly isSigned: SignatureCheck
  readonly #sampleCame = new AbortController()
  readonly #arrivals: Arrival[] = []
  readonly #limits = {
    maxBytes: DEFAULT_RECEIVER_LIMITS.bodyBytes,
    timeoutMs: DEFAULT_RECEIVER_LIMITS.bodyTimeoutMs,
    memory: createBodyMemory(DEFAULT_RECEIVER_LIMITS.memoryBytes),
  }

  constructor({ signature, secrets }: SelfTestDependencies) {
    // A service may sign its samples with the webhook's own secret.
    this.isSigned = createSignatureCheck({ ...signature, secrets: [this.secret, ...secrets] })
  }

  readonly handle = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const read = await readBody(request, response, this.#limits)
    if (typeof read === 'string') {
      answer(request, response, { status: 503, error: 'unavailable' })
      return
    }
    read.release()
    const { rawHeaders, url = '' } = request
    const isSample = findSignature(rawHeaders, read.body, this.secret) !== undefined
    if (isSample || this.#arrivals.length < MOST_OTHERS) {
      const path = url.split('?', 1)[0] ?? ''
      this.#arrivals.push({ path, rawHeaders, body: read.body, isSample })
    }
    if (isSample) answer(request, response, { status: 202, result: 'received' })
    else answer(request, response, { status: 503, error: 'unavailable' })
    if (isSample) this.#sampleCame.abort()
  }

  /** The sample, or else the likeliest arrival. Throws if the test is aborted. */
  async wait({ signal, timeoutMs }: SelfTestDependencies): Promise<Arrival | undefined> {
    const either = AbortSignal.any([signal, this.#sampleCame.signal])
    await delay(timeoutMs, undefined, { signal: either }).catch(() => undefined)
    signal.throwIfAborted()
    return (
      this.#arrivals.find(({ isSample }) => isSample) ??
      this.#arrivals.find(({ rawHeaders, body }) => this.isSigned(rawHeaders, body)) ??
      this.#arrivals[0]
    )
  }
}

async function listen(
  { host, httpPort, path, url, logger }: SelfTestDependencies,
  { handle }: SampleReceiver,
): Promise<HttpServer> {
  // Also listens at the path of the public address: the proxy may fail to cut it.
  const paths = new Set([path, new URL(url).pathname])
  const routes = Object.fromEntries([...paths].map((name) => [name, { methods: ['POST'], handle }]))
  try {
    return await startHttpServer({ host, httpPort, routes, logger })
  } catch (thrown) {
    if (!(thrown instanceof ConfigError)) throw thrown
    const code = (thrown.cause as NodeJS.ErrnoException | undefined)?.code
    const where = `${host}:${httpPort}`
    const problems = thrown.problems.map(({ setting, problem }) => `${setting} ${problem}`)
    const detail =
      code === 'EADDRINUSE'
        ? `${where} is in use. If that is \`tracking-sync serve\`, test it as it runs: ` +
          `\`tracking-sync webhooks trigger --to ${url}\`, then \`tracking-sync status\` shows ` +
          'one delivery more. Else name another address with --listen'
        : `cannot listen at ${where}: ${problems.join('; ')}`
    throw new FailedStep('listen', detail)
  }
}

/** Fails if real deliveries would be refused, as far as the service tells. */
async function compareSecret({ service, signal, url, secrets }: SelfTestDependencies) {
  const listed = await inStep('secret', listWebhookRecords(service, signal))
  const sending = listed.filter((webhook) => sendsTo(webhook, url))
  const [alert] = sending.flatMap((webhook) => checkSecret(webhook, secrets))
  if (alert !== undefined) {
    throw new FailedStep('secret', alert.sentence, new IncompleteRunError(alert.sentence))
  }
  const ids = sending.map(({ webhookId }) => webhookId).join(', ')
  if (ids === '') {
    return passed('secret', `no webhook of the account sends to ${url} yet: no secret to compare`)
  }
  const isSaid = sending.every(({ secret }) => secret !== null)
  const detail = isSaid
    ? `webhook ${ids} signs with TRACKING_WEBHOOK_SECRET`
    : `the service does not say the secret of webhook ${ids}: the first real delivery shows ` +
      'whether it is TRACKING_WEBHOOK_SECRET'
  return passed('secret', detail)
}

async function trigger(
  { service, signal, url, event }: SelfTestDependencies,
  secret: string,
): Promise<SelfTestStep> {
  await inStep('trigger', service.triggerWebhook({ url, event, secret }, { signal }))
  return passed('trigger', `the service accepted to send a sample of ${event} to ${url}`)
}

/** An error of the service ends the step. */
async function inStep<Result>(
  step: SelfTestStep['name'],
  request: Promise<Result>,
): Promise<Result> {
  return request.catch((thrown: unknown) => {
    if (!(thrown instanceof ConnectorError)) throw thrown
    throw new FailedStep(step, thrown.message, thrown)
  })
}

function* checkArrival(
  arrived: Arrival | undefined,
  { url, host, httpPort, path, timeoutMs, signature }: SelfTestDependencies,
  receiver: SampleReceiver,
): Generator<SelfTestStep> {
  if (arrived === undefined) {
    const detail =
      `nothing arrived within ${Math.round(timeoutMs / 1000)} s: see that ${url} leads to ` +
      `${host}:${httpPort}${path} of this machine (name, proxy, firewall), or wait longer with ` +
      '--timeout'
    throw new FailedStep('delivery', detail)
  }
  if (arrived.path !== path) {
    const detail =
      `it came to ${arrived.path}, and \`serve\` receives at ${path}: set ` +
      `TRACKING_WEBHOOK_PATH=${arrived.path}, or have the proxy change the path`
    throw new FailedStep('delivery', detail)
  }
  yield passed('delivery', `a delivery of ${arrived.body.length} bytes arrived at ${path}`)
  if (!receiver.isSigned(arrived.rawHeaders, arrived.body)) {
    throw new FailedStep('signature', explainSignature(arrived, signature.header, receiver.secret))
  }
  yield passed('signature', `it is signed in ${signature.header} as the preset says`)
  const { envelope, deadReason } = readDelivery(arrived.body, {})
  if (deadReason !== null) {
    throw new FailedStep('body', `it cannot be read; please report this: ${deadReason}`)
  }
  const { notificationId, event } = envelope
  const name = event ?? 'an event without a name'
  yield passed('body', `it is notification ${notificationId} of ${name}; nothing was stored`)
}

function explainSignature({ rawHeaders, body }: Arrival, header: string, secret: string): string {
  const found = findSignature(rawHeaders, body, secret)
  if (found !== undefined) {
    const { algorithm, encoding, prefix } = found
    return (
      'it is signed in another form; have a preset file of your own (TRACKING_SERVICE) say ' +
      `"signature": ${JSON.stringify({ header: found.header, algorithm, encoding, prefix })}`
    )
  }
  const names = rawHeaders.filter((_, index) => index % 2 === 0)
  if (names.some((name) => name.toLowerCase() === header.toLowerCase())) {
    return (
      'it is not signed with the secret of this test in any form we know. It may be another ' +
      'delivery, or a proxy changes bodies: try again, and see that nothing in between does'
    )
  }
  return (
    `it has no header ${header}, only ${names.join(', ')}: a proxy may remove it, or the service ` +
    'signs in another way'
  )
}

export type SignatureForm = Omit<SignatureSettings, 'secrets'>

const ALGORITHMS = ['sha256', 'sha512', 'sha1'] as const
const ENCODINGS = ['hex', 'base64'] as const

/**
 * Looks in all headers for a signature of the body made with `secret`, in any hash and encoding,
 * which the interface leaves open. `rawHeaders`: names and values in turn.
 */
export function findSignature(
  rawHeaders: readonly string[],
  body: Buffer,
  secret: string,
): SignatureForm | undefined {
  for (const algorithm of ALGORITHMS) {
    const digest = createHmac(algorithm, secret).update(body).digest()
    for (const encoding of ENCODINGS) {
      const encoded = digest.toString(encoding)
      const at = rawHeaders.findIndex((text, index) => index % 2 === 1 && text.endsWith(encoded))
      const header = rawHeaders[at - 1]
      if (header === undefined) continue
      const prefix = rawHeaders[at]?.slice(0, -encoded.length) ?? ''
      return { header, algorithm, encoding, prefix }
    }
  }
  return undefined
}
