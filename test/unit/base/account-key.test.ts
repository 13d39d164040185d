import { expect, test } from 'vitest'
import { accountKey } from '../../../src/base/service-address.js'

test('tells accounts apart, and holds neither key nor address', { tags: ['I15'] }, () => {
  const account = { apiUrl: 'https://api.tracking.example/v2', apiKey: 'a-secret-key' }
  const keys = [
    account,
    { ...account, apiUrl: 'https://API.tracking.example:443/v2/' },
    { ...account, apiKey: 'another-key' },
    { ...account, apiUrl: 'https://api.tracking.example/v3' },
    { ...account, apiUrl: 'https://other.example/v2' },
  ].map(accountKey)
  expect(keys[1]).toBe(keys[0])
  expect(new Set(keys).size).toBe(4)
  expect(keys[0]).toMatch(/^[0-9a-f]{32}$/)
})
