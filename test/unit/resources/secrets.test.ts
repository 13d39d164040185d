import { describe, expect, test } from 'vitest'
import { flatten, type JsonObject } from './flat-rows.js'

const canary = 'canary-whsec-77aa11'

function webhook(attributes: JsonObject): JsonObject {
  return { id: 'w-1', type: 'webhook', attributes: { url: 'https://x.example/', ...attributes } }
}

describe('a webhook is stored without what signs and guards it', { tags: ['S1'] }, () => {
  const HIDDEN = '[secret]'
  const NAMELESS = { name: null, value: HIDDEN }
  const named = (value: string) => ({ headers: [{ name: 'x-guard', value }] })
  test.each([
    ['its secret', { secret: canary }, { secret: HIDDEN }],
    ['the values of its headers', named(canary), named(HIDDEN)],
    ['headers of another shape', { headers: { 'x-guard': canary } }, { headers: HIDDEN }],
    ['headers as a text', { headers: canary }, { headers: HIDDEN }],
    ['headers no objects', { headers: [canary, null] }, { headers: [NAMELESS, NAMELESS] }],
  ])('%s', (_what, sent, kept) => {
    const row = flatten(webhook({ active: true, events: ['a'], ...sent }))
    expect(row.unmapped).toEqual({
      url: 'https://x.example/',
      active: true,
      events: ['a'],
      ...kept,
    })
    expect(JSON.stringify(row.flat)).not.toContain(canary)
  })

  test('one without secret and headers stays one without', () => {
    const row = flatten(webhook({ secret: null, headers: null }))
    expect(row.unmapped).toEqual({ url: 'https://x.example/', secret: null, headers: null })
  })

  test('other types keep attributes of these names', () => {
    const row = flatten({ id: 'x', type: 'something', attributes: { secret: 'a', headers: 'b' } })
    expect(row.unmapped).toEqual({ secret: 'a', headers: 'b' })
  })
})
