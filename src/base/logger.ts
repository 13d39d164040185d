import { Writable } from 'node:stream'
import pino, { type Logger as PinoLogger } from 'pino'
import { ConnectorError, toError } from './errors.js'

export type LogLevel = 'debug' | 'info' | 'warn' | 'error' | 'silent'
export type LogFields = Readonly<Record<string, unknown>>

/** The logger of every module. Messages are short sentences; facts go into the fields. */
export interface Logger {
  debug(message: string, fields?: LogFields): void
  info(message: string, fields?: LogFields): void
  warn(message: string, fields?: LogFields): void
  error(message: string, fields?: LogFields): void
  /** The same logger with fields added to each line. */
  child(fields: LogFields): Logger
}

export interface LoggerOptions {
  readonly level: LogLevel
  /** `json`: one JSON object a line. `text`: one line for people. */
  readonly format: 'json' | 'text'
  /**
   * Every value that must never be printed; also their URL-encoded and base64 forms are masked. May
   * grow while the program runs (the embedded database makes its own password).
   */
  readonly secrets: readonly string[]
  readonly stream: NodeJS.WritableStream
}

export const MASK = '[secret]'

/**
 * A secret that may as well be a word or a number of any text: `invalid`, `tracking-sync`, `5432`.
 * Masking each of them would hide the text, and reveal the secret to a reader who knows the
 * sentence.
 */
function isOrdinary(secret: string): boolean {
  if (secret.length < 3) return true
  const isWords = /^(?:[a-z]{1,12}|[A-Z][a-z]{0,11}|[A-Z]{1,12})(?:[-_. ][A-Za-z]{1,12})*$/
  return /^\d{1,7}$/.test(secret) || (secret.length <= 16 && isWords.test(secret))
}

/** Names before a secret: in an address, in a header, or in a pair of name and value. */
const CREDENTIAL = '(?:key|token|passw(?:or)?d|pwd|secret|authorization)'
const IS_CREDENTIAL = new RegExp(`${CREDENTIAL}$`, 'i')
const BEFORE_ORDINARY = [
  '://[^\\s/@]*:(?=[^\\s/]*@)',
  '\\b(?:token|bearer|basic)\\s+',
  `${CREDENTIAL}["']?(?:\\s*[:=]\\s*["'\`]?|\\s+["'\`])`,
].join('|')

/**
 * Returns a function that masks every secret of a list that may still grow, in plain, URL-encoded
 * and base64 form. It masks the longest first, so that a secret inside another one does not leave a
 * tail. A secret that is an ordinary word or a short number is masked only after a name that marks
 * it as a secret.
 */
export function createRedactor(secrets: readonly string[]): (text: string) => string {
  let count = secrets.length
  let redact = masking(secrets)
  return (text) => {
    if (secrets.length !== count) redact = masking(secrets)
    count = secrets.length
    return redact(text)
  }
}

function masking(secrets: readonly string[]): (text: string) => string {
  const forms = new Set<string>()
  const ordinary = new Set<string>()
  for (const secret of secrets.filter((one) => one !== '')) {
    const plain = isOrdinary(secret) ? ordinary : forms
    plain.add(secret)
    plain.add(encodeURIComponent(secret))
    plain.add(new URLSearchParams({ '': secret }).toString().slice(1))
    plain.add(JSON.stringify(secret).slice(1, -1))
    if (secret.length < 3) continue
    forms.add(Buffer.from(secret).toString('base64'))
    forms.add(Buffer.from(secret).toString('base64url'))
  }
  const longestFirst = [...forms].sort((one, other) => other.length - one.length)
  const words = [...ordinary].sort((one, other) => other.length - one.length).map(escapeRegExp)
  const standing = new RegExp(`(?<=${BEFORE_ORDINARY})(?:${words.join('|')})(?!\\w)`, 'gi')
  return (text) => {
    let redacted = text
    for (const form of longestFirst) redacted = redacted.replaceAll(form, MASK)
    return words.length === 0 ? redacted : redacted.replace(standing, MASK)
  }
}

function escapeRegExp(text: string): string {
  return text.replace(/[\\^$.*+?()[\]{}|/-]/g, '\\$&')
}

/**
 * Structured log on pino. Redaction is by value and happens on everything in the finished line, so
 * that no field, stack or library message can slip past it. A failing stream (closed pipe, full
 * disk) never stops the program.
 */
export function createLogger(options: LoggerOptions): Logger {
  const redact = createRedactor(options.secrets)
  const destination = new Writable({
    decodeStrings: false,
    write(line: string, _encoding, done) {
      const entry = redactDeep(JSON.parse(line), redact) as Record<string, unknown>
      const text = options.format === 'json' ? JSON.stringify(entry) : formatForPeople(entry)
      options.stream.write(`${escapeControls(text)}\n`)
      done()
    },
  })
  // Else a closed pipe would end the program. One listener however many loggers share the stream.
  if (!options.stream.listeners('error').includes(ignoreFailure)) {
    options.stream.on('error', ignoreFailure)
  }
  const logger = pino(
    {
      level: options.level,
      base: null,
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }) },
      serializers: { error: (thrown: unknown) => serializeError(thrown) },
    },
    destination,
  )
  return wrap(logger)
}

function ignoreFailure(): void {
  // There is nowhere left to report it.
}

/**
 * Values and names; a number that holds a secret becomes a text, because the line must stay JSON.
 */
function redactDeep(value: unknown, redact: (text: string) => string): unknown {
  if (typeof value === 'string') return redact(value)
  if (typeof value === 'number') {
    const text = String(value)
    return redact(text) === text ? value : MASK
  }
  if (Array.isArray(value)) return value.map((item) => redactDeep(item, redact))
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value).map(([name, member]: [string, unknown]) => {
      const isSecret = IS_CREDENTIAL.test(name) && redact(`key=${String(member)}`) === `key=${MASK}`
      return [redact(name), isSecret ? MASK : redactDeep(member, redact)]
    }),
  )
}

function wrap(logger: PinoLogger): Logger {
  const at =
    (level: 'debug' | 'info' | 'warn' | 'error') =>
    (message: string, fields: LogFields = {}): void => {
      logger[level](fields, message)
    }
  return {
    debug: at('debug'),
    info: at('info'),
    warn: at('warn'),
    error: at('error'),
    child: (fields) => wrap(logger.child(fields)),
  }
}

/** A cause can lead back to its own error. */
const DEEPEST_CAUSE = 8

function serializeError(thrown: unknown, depth = 0): unknown {
  const error = toError(thrown)
  return {
    name: error.name,
    message: error.message,
    ...('code' in error ? { code: error.code } : {}),
    ...('context' in error ? { context: error.context } : {}),
    // An error of the taxonomy is an answer, not a fault of the program: its stack would only hide
    // its sentence.
    ...(error instanceof ConnectorError ? {} : { stack: error.stack }),
    ...(error.cause === undefined || depth === DEEPEST_CAUSE
      ? {}
      : { cause: serializeError(error.cause, depth + 1) }),
  }
}

/** `09:26:53 warn  message key=value` */
function formatForPeople({ time, level, msg, ...fields }: Record<string, unknown>): string {
  const facts = Object.entries(fields).map(([name, value]) => {
    const isError = name === 'error' && typeof value === 'object' && value !== null
    const shown = isError ? (value as { message?: unknown }).message : value
    return `${name}=${JSON.stringify(shown)}`
  })
  const text = [String(time).slice(11, 19), String(level).padEnd(5), String(msg), ...facts]
  return text.join(' ')
}

/**
 * A log line stays one line, and nothing in it steers a terminal. JSON leaves U+007F to U+009F, the
 * line separators and the signs that turn the direction of writing as they are; in JSON they occur
 * only within texts, where an escape means the same.
 */
function escapeControls(text: string): string {
  return text.replace(
    /[\p{Cc}\u2028\u2029\p{Bidi_Control}]/gu,
    (control) =>
      SHORT_ESCAPES[control] ?? `\\u${control.charCodeAt(0).toString(16).padStart(4, '0')}`,
  )
}

const SHORT_ESCAPES: Readonly<Record<string, string>> = { '\n': '\\n', '\r': '\\r', '\t': '\\t' }

/** A logger that says nothing; for tests and for pure callers. */
export const silentLogger: Logger = {
  debug: () => undefined,
  info: () => undefined,
  warn: () => undefined,
  error: () => undefined,
  child: () => silentLogger,
}
