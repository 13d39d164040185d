import { describe, expect, test } from 'vitest'
import { SeenKeys } from '../../../src/base/seen-keys.js'

describe('SeenKeys', () => {
  test('knows every key that was added, however many, and no other', () => {
    const seen = new SeenKeys()
    const keys = Array.from({ length: 50_000 }, (_, index) => `container ${index}`)
    expect(keys.every((key) => seen.add(key))).toBe(true)
    expect(keys.some((key) => seen.add(key))).toBe(false)
    expect(keys.every((key) => seen.has(key))).toBe(true)
    expect(keys.some((key) => seen.has(`${key} `))).toBe(false)
  })

  test('is empty at first', () => {
    expect(new SeenKeys().has('')).toBe(false)
  })
})
