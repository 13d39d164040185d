import { createHash } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { readDelivery } from '../../../../src/webhooks/receive/delivery.js'
import { notificationBody } from '../../../support/test-receiver.js'

function read(text: string, headers: Readonly<Record<string, string>> = {}) {
  return readDelivery(Buffer.from(text), headers)
}

function deep(levels: number): string {
  return `{"data":{"id":"deep","more":${'['.repeat(levels)}${']'.repeat(levels)}}}`
}

describe('a delivery', () => {
  it('needs nothing but data.id', () => {
    const { envelope, deadReason } = read('{"data":{"id":"bare"}}')
    expect(deadReason).toBeNull()
    expect(Object.entries(envelope).filter(([, value]) => value !== null)).toEqual([
      ['notificationId', 'bare'],
    ])
    const odd =
      '{"data":{"id":"odd","attributes":[],"relationships":{"webhook":"x","reference_object":null}}}'
    expect(read(odd)).toMatchObject({
      envelope: { notificationId: 'odd', webhookId: null },
      deadReason: null,
    })
  })

  const NO_ID = 'data.id is missing or not a text.'
  const ODD_ID = 'data.id holds control characters or lone surrogates.'
  const DEEP = 'The JSON text is nested deeper than 64 levels.'
  it.each([
    ['no JSON', '<html>', 'The body is not JSON.'],
    ['nothing', '', 'The body is not JSON.'],
    ['an array', '[{"id":"x"}]', 'The body is not an object.'],
    ['a list of data', '{"data":[{"id":"x"}]}', 'data is not an object.'],
    ['an id inherited only', '{"data":{"__proto__":{"id":"x"}}}', NO_ID],
    ['a number as id', '{"data":{"id":7}}', NO_ID],
    ['an empty id', '{"data":{"id":""}}', NO_ID],
    ['an id with U+0000', '{"data":{"id":"a\\u0000b"}}', ODD_ID],
    ['an id with half a pair', '{"data":{"id":"\\ud800"}}', ODD_ID],
    ['a long id', `{"data":{"id":"${'x'.repeat(256)}"}}`, 'data.id is longer than 255 characters.'],
    ['65 levels', deep(63), DEEP],
    ['a million levels', deep(1_000_000), DEEP],
  ])('with %s is dead under its hash, with a reason', { tags: ['T6'] }, (_what, text, reason) => {
    const hash = createHash('sha256').update(text).digest('hex')
    expect(read(text)).toMatchObject({
      envelope: { notificationId: `sha256:${hash}` },
      deadReason: reason,
    })
  })

  it.each([
    ['2026-03-02T08:00:00.999999Z', '2026-03-02T08:00:00.999999Z'],
    ['2999-01-01T00:00:00Z', '2999-01-01T00:00:00Z'],
    ['2026-03-02', null],
    ['infinity', null],
    ['now', null],
    ['2026-02-30T00:00:00Z', null],
    [1_772_438_400, null],
    [null, null],
  ])('takes %s as the time it was made as %s', { tags: ['D5'] }, (given, taken) => {
    expect(read(notificationBody('one', { created_at: given })).envelope.createdAt).toBe(taken)
  })

  it('leaves out texts that cannot be stored, and keeps the notification', () => {
    const body = notificationBody('one', { event: 'a\u0000b' })
    expect(read(body)).toMatchObject({
      envelope: { notificationId: 'one', event: null },
      deadReason: null,
    })
  })

  it('keeps none of the headers that may hold a secret', { tags: ['S4'] }, () => {
    const canary = 'canary-header-3f11'
    const { headers } = read('{}', {
      'content-type': 'application/json',
      'user-agent': 'sender/1',
      'x-request-id': 'r'.repeat(2_000),
      'x-forwarded-for': '192.0.2.10',
      authorization: canary,
      cookie: canary,
      'x-svc-webhook-signature': canary,
      'x-secret-sauce': canary,
      'proxy-authorization': canary,
    })
    expect(headers).toEqual({
      'content-type': 'application/json',
      'user-agent': 'sender/1',
      'x-request-id': 'r'.repeat(1_000),
      'x-forwarded-for': '192.0.2.10',
    })
  })
})
