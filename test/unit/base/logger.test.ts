import { Writable } from 'node:stream'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import {
  createLogger,
  createRedactor,
  MASK,
  type Logger,
  type LoggerOptions,
} from '../../../src/base/logger.js'

/** Its base64 has a plus and a slash, which base64url writes otherwise. */
const canary = 'cana ry/key+"2f8\\c41%d9~~??>>'
const forms: readonly (readonly [string, string])[] = [
  ['plain', canary],
  ['URL-encoded', encodeURIComponent(canary)],
  ['in a query', new URLSearchParams({ '': canary }).toString().slice(1)],
  ['base64', Buffer.from(canary).toString('base64')],
  ['base64url', Buffer.from(canary).toString('base64url')],
  ['as JSON', JSON.stringify(canary).slice(1, -1)],
]

interface Recorder {
  readonly logger: Logger
  readonly output: () => string
}

function record(options: Partial<LoggerOptions> = {}): Recorder {
  let text = ''
  const stream = new Writable({
    decodeStrings: false,
    write(chunk: string, _encoding, done) {
      text += chunk
      done()
    },
  })
  const logger = createLogger({
    level: 'debug',
    format: 'json',
    secrets: [canary],
    stream,
    ...options,
  })
  return { logger, output: () => text }
}

/** Fails when any form of the secret is in a text, or in a text within a JSON line of it. */
function expectNoSecret(output: string): void {
  for (const [, form] of forms) {
    expect(output).not.toContain(form)
    expect(output).not.toContain(JSON.stringify(form).slice(1, -1))
  }
}

describe('secrets', { tags: ['S2'] }, () => {
  describe.each(['json', 'text'] as const)('as %s', (format) => {
    test.each(forms)('a secret %s is masked wherever it stands', (_form, secret) => {
      const { logger, output } = record({ format })
      const cause = new Error(`caused by ${secret}`)
      const error = new Error(`failed with ${secret}`, { cause })
      logger.child({ bound: secret }).error(`Authorization: Token ${secret}`, {
        field: secret,
        deep: { list: [secret, { [secret]: secret }] },
        error,
      })
      expectNoSecret(output())
      expect(output()).toContain(MASK)
    })
  })

  test('stacks and causes are in the line, masked', () => {
    const { logger, output } = record()
    const cause = new TypeError(`invalid header value ${canary}`)
    logger.warn('a request failed', { error: new Error(`Token ${canary}`, { cause }) })
    const line = JSON.parse(output()) as {
      error: { message: string; stack: string; cause: { name: string; message: string } }
    }
    expect(line.error.message).toBe(`Token ${MASK}`)
    expect(line.error.stack).toContain('logger.test')
    expect(line.error.cause).toMatchObject({
      name: 'TypeError',
      message: `invalid header value ${MASK}`,
    })
  })

  test('a secret that becomes known later is masked from then on', () => {
    const secrets: string[] = []
    const { logger, output } = record({ secrets })
    secrets.push(canary)
    logger.info(`made ${canary}`)
    expectNoSecret(output())
  })

  test('a secret made of digits leaves a line that is JSON, also where it stands in a number', () => {
    for (const format of ['json', 'text'] as const) {
      const { logger, output } = record({ format, secrets: ['12345678'] })
      logger.info('counted', { requests: 123456789, list: [12345678], other: 7 })
      expect(output()).not.toContain('12345678')
      if (format === 'json') {
        expect(JSON.parse(output())).toMatchObject({ requests: MASK, list: [MASK], other: 7 })
      }
    }
  })

  test('any secret that is no ordinary word appears in no line, and every line is JSON', () => {
    fc.assert(
      fc.property(fc.string({ minLength: 3, maxLength: 12 }), fc.string(), (secret, around) => {
        // A secret that is part of the mask or of a name that every line has cannot be told from
        // them.
        fc.pre(!MASK.includes(secret))
        // Those are below.
        fc.pre(!/^(?:[a-z]+|\d+)(?:[-_. ][a-z]+)*$/i.test(secret))
        const redact = createRedactor([secret])
        const redacted = redact(`${around}${secret}${around}`)
        fc.pre(!`${around}${MASK}${around}`.includes(secret))
        expect(redacted).not.toContain(secret)
        const { logger, output } = record({ secrets: [secret] })
        logger.info(`${around}${secret}`, { [secret]: { value: secret } })
        expect(() => JSON.parse(output()) as unknown).not.toThrow()
      }),
    )
  })
})

test.each([[['abc1', 'abc1def']], [['abc1def', 'abc1']]])(
  'a secret inside another one, %j: the longest first',
  { tags: ['S3'] },
  (secrets) => {
    const redact = createRedactor(secrets)
    expect(redact('x abc1def y abc1 z')).toBe(`x ${MASK} y ${MASK} z`)
  },
)

describe('a secret that is an ordinary word', { tags: ['S2', 'FC8'] }, () => {
  test.each(['invalid', 'tracking', 'tracking-sync', 'Postgres', '5432', 'x'])(
    '%s is masked where it is given as a secret, and the text around it is shown',
    (secret) => {
      const redact = createRedactor([secret])
      const sentence = `The ${secret} of ${secret} is "${secret}" (${secret}).`
      expect(redact(sentence)).toBe(sentence)
      const shown = `postgres://${secret}@${secret}:${secret}/${secret}?port=${secret}`
      expect(redact(shown)).toBe(shown)
      for (const [before, after] of [
        [`postgres://${secret}:`, `@${secret}:5/${secret}`],
        [`${secret}: Authorization: Token `, ''],
        ['bearer ', ` ${secret}`],
        ['password=', `&user=${secret}`],
        ['{"apiKey": "', '"}'],
        ['the key "', `" is ${secret}`],
      ] as const) {
        expect(redact(`${before}${secret}${after}`)).toBe(`${before}${MASK}${after}`)
      }
      const { logger, output } = record({ secrets: [secret] })
      logger.info(secret, { schema: secret, apiKey: secret, deep: [{ password: secret }] })
      expect(JSON.parse(output())).toMatchObject({
        msg: secret,
        schema: secret,
        apiKey: MASK,
        deep: [{ password: MASK }],
      })
    },
  )

  test.each(['hunter2', 'aKqzTwLm', 'correct-horse-battery', 'abcdefghijklmnopqrst', '12345678'])(
    '%s is none and is masked everywhere',
    (secret) => {
      expect(createRedactor([secret])(`The ${secret} (x${secret}y)`)).toBe(
        `The ${MASK} (x${MASK}y)`,
      )
    },
  )
})

describe('one line for each event', { tags: ['T10'] }, () => {
  const nasty =
    'one\r\ntwo\u2028three\u2029four\u0085five \u001b[31mred\u009b31m\u007f \u202eabc\u0000'

  test.each(['json', 'text'] as const)('as %s line breaks, escapes are neutralised', (format) => {
    const { logger, output } = record({ format })
    logger.info(nasty, { number: nasty, [nasty]: 1, error: new Error(nasty) })
    const [line = '', ...rest] = output().split('\n')
    expect(rest).toEqual([''])
    expect(line).not.toMatch(/[\p{Cc}\u2028\u2029\p{Bidi_Control}]/u)
    // JSON holds exactly the text that was logged.
    const told = { level: 'info', msg: nasty, number: nasty, [nasty]: 1 }
    if (format === 'json') expect(JSON.parse(line)).toMatchObject(told)
  })

  test('as text a line is the time, the level, the message and the facts', () => {
    const { logger, output } = record({ format: 'text' })
    logger.warn('two pages were read', { pages: 2, stream: 'shipments', error: new Error('no') })
    expect(output()).toMatch(
      /^\d\d:\d\d:\d\d warn {2}two pages were read pages=2 stream="shipments" error="no"\n$/,
    )
  })
})
