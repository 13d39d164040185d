import { createHmac } from 'node:crypto'
import { inspect } from 'node:util'
import { describe, expect, it } from 'vitest'
import { DEFAULT_SIGNATURE } from '../../../support/test-receiver.js'
import { ConfigError } from '../../../../src/base/errors.js'
import {
  createSignatureCheck,
  type SignatureSettings,
} from '../../../../src/webhooks/receive/signature.js'

const SECRET = 'signing-canary-77f0c2'
const HEADER = DEFAULT_SIGNATURE.header
const body = Buffer.from('{"data":{"id":"one","attributes":{"name":"Zo\u00eb"}}}')

function check(settings: Partial<SignatureSettings> = {}) {
  return createSignatureCheck({ ...DEFAULT_SIGNATURE, secrets: [SECRET], ...settings })
}

function sign(
  what: Buffer,
  {
    secret = SECRET,
    algorithm = 'sha256',
    encoding = 'hex',
  }: { secret?: string; algorithm?: string; encoding?: 'hex' | 'base64' } = {},
): string {
  return createHmac(algorithm, secret).update(what).digest(encoding)
}

const right = sign(body)

describe('the signature of a delivery', () => {
  it('is accepted with the header name in any case', { tags: ['W1'] }, () => {
    expect(check()([HEADER, right], body)).toBe(true)
    expect(check()(['Host', 'x', HEADER.toUpperCase(), right], body)).toBe(true)
  })

  it.each([
    ['missing', []],
    ['empty', [HEADER, '']],
    ['wrong', [HEADER, sign(body, { secret: 'another-secret-of-22-ch' })]],
    ['63 characters', [HEADER, right.slice(0, 63)]],
    ['65 characters', [HEADER, `${right}0`]],
    ['upper case', [HEADER, right.toUpperCase()]],
    ['with a prefix nobody asked for', [HEADER, `sha256=${right}`]],
    ['with junk after it', [HEADER, `${right} junk`]],
    ['base64', [HEADER, sign(body, { encoding: 'base64' })]],
    ['no hex', [HEADER, 'z'.repeat(64)]],
    ['all zeros, as what stands for a missing one', [HEADER, '0'.repeat(64)]],
  ])('is refused when it is %s', { tags: ['W2'] }, (_form, rawHeaders) => {
    expect(check()(rawHeaders, body)).toBe(false)
  })

  it('is refused when the body differs by one byte, whichever', { tags: ['W3'] }, () => {
    expect(check()([HEADER, right], body)).toBe(true)
    for (const index of body.keys()) {
      const changed = Buffer.from(body)
      changed[index]! ^= 1
      expect(check()([HEADER, right], changed)).toBe(false)
    }
    for (const changed of [body.subarray(1), body.subarray(0, -1), Buffer.concat([body, body])]) {
      expect(check()([HEADER, right], changed)).toBe(false)
    }
  })

  it('is refused when its header comes twice, in any order', { tags: ['W6'] }, () => {
    const wrong = '0'.repeat(64)
    for (const [one, two] of [
      [right, wrong],
      [wrong, right],
      [right, right],
    ] as const) {
      expect(check()([HEADER, one, HEADER.toLowerCase(), two], body)).toBe(false)
    }
    expect(check()([HEADER, `${right}, ${right}`], body)).toBe(false)
  })

  it('may be of either secret while they change, not afterwards', { tags: ['W7'] }, () => {
    const [older, newer] = ['older-secret-0123456789', 'newer-secret-0123456789']
    const takes = (secrets: readonly string[]): boolean[] =>
      [older, newer].map((secret) => check({ secrets })([HEADER, sign(body, { secret })], body))
    expect([[older], [newer, older], [newer]].map(takes)).toEqual([
      [true, false],
      [true, true],
      [false, true],
    ])
  })

  it.each(['sha256', 'sha512', 'sha1'] as const)(
    'takes only the strict form of %s, in hex and in base64',
    { tags: ['W2'] },
    (algorithm) => {
      for (const encoding of ['hex', 'base64'] as const) {
        const signature = sign(body, { algorithm, encoding })
        const accepts = (text: string): boolean =>
          check({ algorithm, encoding, prefix: 'v1=' })([HEADER, text], body)
        expect(accepts(`v1=${signature}`)).toBe(true)
        const short = `v1=${signature.slice(0, -1)}`
        const odd = [signature, `V1=${signature}`, short, `v1=${signature}=`, `v1= ${signature}`]
        expect(odd.filter(accepts)).toEqual([])
      }
    },
  )

  it('has one base64 text, whatever the bits that do not count', { tags: ['W2'] }, () => {
    const signature = sign(body, { encoding: 'base64' })
    const last = signature.at(-2)!
    const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/'
    const sameBytes = `${signature.slice(0, -2)}${alphabet[alphabet.indexOf(last) + 1]!}=`
    expect(Buffer.from(sameBytes, 'base64')).toEqual(Buffer.from(signature, 'base64'))
    expect(check({ encoding: 'base64' })([HEADER, signature], body)).toBe(true)
    expect(check({ encoding: 'base64' })([HEADER, sameBytes], body)).toBe(false)
  })

  it('may be in another header', () => {
    const other = check({ header: 'X-Hub-Signature' })
    expect(other(['x-hub-signature', right], body)).toBe(true)
    expect(other([HEADER, right], body)).toBe(false)
  })
})

describe('a secret', { tags: ['W5'] }, () => {
  it.each([
    ['empty', ''],
    ['blank', '   '],
    ['ended by a line end', `${SECRET}\n`],
    ['led by a space', ` ${SECRET}`],
    ['broken by a space', 'signing canary-77f0c2'],
    ['shorter than 12 characters', SECRET.slice(0, 11)],
    ['quoted', `"${SECRET}"`],
  ])('is refused when it is %s, beside a good one too, and never shown', (_what, secret) => {
    for (const secrets of [[secret], [SECRET, secret]]) {
      try {
        check({ secrets })
      } catch (error) {
        expect(error).toBeInstanceOf(ConfigError)
        expect((error as ConfigError).message).toMatch(/^TRACKING_WEBHOOK_SECRET /)
        expect(inspect(error)).not.toContain(SECRET.slice(0, 15))
        continue
      }
      throw new Error('expected the secret to be refused')
    }
  })

  it('must be there', () => {
    expect(() => check({ secrets: [] })).toThrow('TRACKING_WEBHOOK_SECRET is not set')
  })
})
