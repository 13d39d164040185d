import { expect, test } from 'vitest'
import { accountKey } from '../../../src/base/service-address.js'

const account = { apiUrl: 'https://api.tracking.example/v2', apiKey: 'a-secret-key' }

test('is the same for the same account, however its address is written', () => {
  expect(accountKey({ ...account, apiUrl: 'https://API.tracking.example:443/v2/' })).toBe(
    accountKey(account),
  )
})

test('differs for another key and for another address', () => {
  const keys = [
    account,
    { ...account, apiKey: 'another-key' },
    { ...account, apiUrl: 'https://api.tracking.example/v3' },
    { ...account, apiUrl: 'https://other.example/v2' },
  ].map(accountKey)
  expect(new Set(keys).size).toBe(4)
})

test('holds neither the key nor the address', { tags: ['I15'] }, () => {
  expect(accountKey(account)).toMatch(/^[0-9a-f]{32}$/)
})
