import { Writable } from 'node:stream'
import pino, { type Logger as PinoLogger } from 'pino'
import { toError } from './errors.js'

export type LogLevel = 'debug' | 'info' | 'warn' | 'error' | 'silent'
export type LogFields = Readonly<Record<string, unknown>>

/** What every module is given. Messages are short sentences; facts go into the fields. */
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
   * Every value that must never be printed; also their URL-encoded and base64 forms are masked. May grow while the program runs
   * (the embedded database makes its own password).
   */
  readonly secrets: readonly string[]
  readonly stream: NodeJS.WritableStream
}

export const MASK = '[secret]'

/**
 * A function that masks every secret in a text, in plain, URL-encoded and base64 form. The longest is replaced first, so
 * that a secret inside another one (`abc` in `abcdef`) leaves no tail behind. Empty secrets are ignored.
 */
export function createRedactor(secrets: readonly string[]): (text: string) => string {
  const forms = new Set<string>()
  for (const secret of secrets) {
    if (secret.length < 4) continue
    forms.add(secret)
    forms.add(encodeURIComponent(secret))
    forms.add(Buffer.from(secret).toString('base64'))
    forms.add(JSON.stringify(secret).slice(1, -1))
  }
  const longestFirst = [...forms].sort((one, other) => other.length - one.length)
  if (longestFirst.length === 0) return (text) => text
  return (text) => {
    let redacted = text
    for (const form of longestFirst) redacted = redacted.replaceAll(form, MASK)
    return redacted
  }
}

/** Like `createRedactor`, for a list of secrets that may still grow. */
export function createLiveRedactor(secrets: readonly string[]): (text: string) => string {
  let count = secrets.length
  let redact = createRedactor(secrets)
  return (text) => {
    if (secrets.length !== count) {
      count = secrets.length
      redact = createRedactor(secrets)
    }
    return redact(text)
  }
}

/**
 * Structured log on pino. Redaction is by value and happens on the finished line, so that no field, stack or library
 * message can slip past it. A failing stream (closed pipe, full disk) never stops the program.
 */
export function createLogger(options: LoggerOptions): Logger {
  const redact = createLiveRedactor(options.secrets)
  const destination = new Writable({
    decodeStrings: false,
    write(line: string, _encoding, done) {
      const redacted = redact(line)
      options.stream.write(options.format === 'json' ? redacted : formatForPeople(redacted))
      done()
    },
  })
  destination.on('error', () => undefined)
  const logger = pino(
    {
      level: options.level,
      base: null,
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }) },
      serializers: { error: serializeError },
    },
    destination,
  )
  return wrap(logger)
}

function wrap(logger: PinoLogger): Logger {
  return {
    debug: (message, fields) => {
      logger.debug(fields ?? {}, message)
    },
    info: (message, fields) => {
      logger.info(fields ?? {}, message)
    },
    warn: (message, fields) => {
      logger.warn(fields ?? {}, message)
    },
    error: (message, fields) => {
      logger.error(fields ?? {}, message)
    },
    child: (fields) => wrap(logger.child(fields)),
  }
}

function serializeError(thrown: unknown): unknown {
  const error = toError(thrown)
  return {
    name: error.name,
    message: error.message,
    ...('code' in error ? { code: error.code } : {}),
    stack: error.stack,
    ...(error.cause === undefined ? {} : { cause: serializeError(error.cause) }),
  }
}

/** `09:26:53 warn  message key=value`: control characters are escaped, so that a log line stays one line. */
function formatForPeople(line: string): string {
  const { time, level, msg, ...fields } = JSON.parse(line) as Record<string, unknown>
  const facts = Object.entries(fields).map(([name, value]) => {
    const isError = name === 'error' && typeof value === 'object' && value !== null
    const shown = isError ? (value as { message?: unknown }).message : value
    return `${name}=${JSON.stringify(shown)}`
  })
  const text = [String(time).slice(11, 19), String(level).padEnd(5), String(msg), ...facts]
  return `${text.join(' ').replace(/\p{Cc}/gu, (control) => JSON.stringify(control).slice(1, -1))}\n`
}

/** A logger that says nothing; for tests and for pure callers. */
export const silentLogger: Logger = {
  debug: () => undefined,
  info: () => undefined,
  warn: () => undefined,
  error: () => undefined,
  child: () => silentLogger,
}
