import { describe, expect, test } from 'vitest'
import { flatten, type JsonObject } from './flat-rows.js'

const canary = 'canary-whsec-77aa11'

function webhook(attributes: JsonObject): JsonObject {
  return { id: 'w-1', type: 'webhook', attributes: { url: 'https://x.example/', ...attributes } }
}

describe('a webhook is stored without what signs and guards it', { tags: ['S1'] }, () => {
  test.each([
    ['its secret', { secret: canary }, { secret: '[secret]' }],
    [
      'the values of its headers',
      { headers: [{ name: 'x-guard', value: canary }] },
      { headers: [{ name: 'x-guard', value: '[secret]' }] },
    ],
    ['headers of another shape', { headers: { 'x-guard': canary } }, { headers: '[secret]' }],
    ['headers as a text', { headers: canary }, { headers: '[secret]' }],
    [
      'headers that are no objects',
      { headers: [canary, null] },
      {
        headers: [
          { name: null, value: '[secret]' },
          { name: null, value: '[secret]' },
        ],
      },
    ],
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
