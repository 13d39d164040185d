import { expect, test } from 'vitest'
import { parseBaseUrl, resolveSameOrigin } from '../../../src/source/client/origin.js'
import { ApiRefusedError } from '../../../src/base/errors.js'

const base = parseBaseUrl('https://api.tracking.example/v2/')
const page = new URL('https://api.tracking.example/v2/containers?page%5Bnumber%5D=1')

test.each([
  'https:\\\\evil.example\\v2\\containers',
  '/\\evil.example/v2/containers',
  'https://api.tracking.example@evil.example/v2/containers',
  'https://user:word@api.tracking.example/v2/containers',
  'file:///v2/containers',
  'javascript:alert(1)',
  'https://api.trаcking.example/v2/containers',
  'https://api.tracking.example/v2/webhooks',
  '/v2/containers/../webhooks',
  '/v2/containers/%2e%2e/webhooks',
  'https://api.tracking.example/v2/containers\r\nX-Evil: 1',
  'https://api.tracking.example/v2/contai\tners',
  ' https://api.tracking.example/v2/containers',
  'https://',
])('refuses %j', { tags: ['P9'] }, (candidate) => {
  expect(() => resolveSameOrigin(base, candidate, page)).toThrow(ApiRefusedError)
})

test.each([
  'https://evil.example/v2/containers',
  'http://api.tracking.example/v2/containers',
  '//evil.example/v2/containers',
  'https://api.tracking.example:8443/v2/containers',
  'http://169.254.169.254/v2/containers',
  '/v1/containers',
  '/containers',
])('goes on at our address, whatever the host of %j', { tags: ['P9', 'JB6'] }, (link) => {
  const url = resolveSameOrigin(base, `${link}?page%5Bnumber%5D=2`, page)
  expect(url.href).toBe('https://api.tracking.example/v2/containers?page%5Bnumber%5D=2')
})

test.each([
  ['https://api.tracking.example/v2/containers?page[number]=2', '?page[number]=2'],
  ['https://api.tracking.example:443/v2/containers?page[number]=2', '?page[number]=2'],
  ['/v2/containers?a=b', '?a=b'],
  ['?page%5Bnumber%5D=3', '?page%5Bnumber%5D=3'],
  ['containers?x=1#part', '?x=1'],
])('takes %j', { tags: ['P9'] }, (candidate, search) => {
  const url = resolveSameOrigin(base, candidate, page)
  expect(url.href).toBe(`https://api.tracking.example/v2/containers${search}`)
})

test('without a collection every path below the base is allowed', { tags: ['P9'] }, () => {
  const inside = resolveSameOrigin(base, 'https://api.tracking.example/v2/ports/DEHAM')
  expect(inside.pathname).toBe('/v2/ports/DEHAM')
  for (const path of ['/v2', '/v2x/ports', '/v2/ports/../../admin']) {
    expect(() => resolveSameOrigin(base, `https://api.tracking.example${path}`)).toThrow(
      ApiRefusedError,
    )
  }
  for (const origin of [
    'https://evil.example',
    'http://api.tracking.example',
    'https://api.tracking.example:8443',
  ]) {
    expect(() => resolveSameOrigin(base, `${origin}/v2/ports/DEHAM`)).toThrow('leads away')
  }
})

test('takes an address of 8192 bytes and none of 8193, nor quotes it', { tags: ['P10'] }, () => {
  const resolve = (bytes: number): URL =>
    resolveSameOrigin(base, '/v2/containers?x='.padEnd(bytes, 'y'), page)
  expect(resolve(8_192).search).toMatch(/y$/)
  expect(() => resolve(8_193)).toThrow(ApiRefusedError)
  expect(() => resolve(100_000)).toThrow(/^[^]{0,200}longer than 8192 bytes[^]{0,100}$/)
})
