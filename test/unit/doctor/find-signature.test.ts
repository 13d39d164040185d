import { createHmac } from 'node:crypto'
import { expect, it } from 'vitest'
import { findSignature } from '../../../src/extensions/setup/webhooks/self-test.js'
import { createSignatureCheck } from '../../../src/webhooks/receive/signature.js'

const SECRET = 'a-secret-of-some-length'
const BODY = Buffer.from('{"data":{"id":"one"}}')

it.each([
  ['sha256', 'hex', ''],
  ['sha512', 'base64', 'v1='],
  ['sha1', 'hex', 'sha1='],
] as const)('a signature by %s in %s after "%s" is found', (algorithm, encoding, prefix) => {
  const signature = createHmac(algorithm, SECRET).update(BODY).digest(encoding)
  const rawHeaders = ['Host', 'here', 'X-Signed', `${prefix}${signature}`]
  const form = findSignature(rawHeaders, BODY, SECRET)
  expect(form).toEqual({ header: 'X-Signed', algorithm, encoding, prefix })
  expect(createSignatureCheck({ ...form!, secrets: [SECRET] })(rawHeaders, BODY)).toBe(true)
  expect(findSignature(rawHeaders, Buffer.from('other'), SECRET)).toBeUndefined()
  expect(findSignature(['Host', 'here'], BODY, SECRET)).toBeUndefined()
})
