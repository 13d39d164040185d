import { expect, test } from 'vitest'
import { singleHeaders } from '../../../src/api/exchange.js'

const VALUES = [
  undefined,
  '',
  ' ',
  'x',
  ' y ',
  ['a', 'b'],
  ['', 'c'],
  [],
  ['\t', ''],
  'é'.repeat(9),
]

test('any header may come twice, empty or absurd', { tags: ['JC8'] }, () => {
  let state = 7
  const pick = <Item>(items: readonly Item[]): Item => {
    state = (state * 1_103_515_245 + 12_345) % 2 ** 31
    return items[state % items.length] as Item
  }
  for (let round = 0; round < 1_000; round += 1) {
    const names = ['date', 'Retry-After', 'content-type', 'content-encoding', '__proto__']
    const headers = Object.fromEntries(names.map((name) => [name, pick(VALUES)]))
    for (const value of Object.values(singleHeaders(headers))) {
      expect(value).toBeTypeOf('string')
      expect(value?.trim()).toBe(value)
      expect(value).not.toBe('')
    }
  }
  expect(singleHeaders({ date: ['', 'a', 'b'] as unknown as string }).date).toBe('a')
})
