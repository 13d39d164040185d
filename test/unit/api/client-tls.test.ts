import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { inspect } from 'node:util'
import { afterEach, expect, test, vi } from 'vitest'
import { ApiConnectionError, ApiUnavailableError } from '../../../src/base/errors.js'
import { canaryKey, failureOf, listen, stop, useServices } from './fake-service.js'

const fixtures = new URL('../../fixtures/tls/', import.meta.url)
const read = (name: string): string => readFileSync(new URL(name, fixtures), 'utf8')
const { atEnd, connect: connectPlain } = useServices()

afterEach(() => {
  vi.unstubAllEnvs()
})

async function startTlsService(certificate: string) {
  let requests = 0
  const server = createServer(
    { key: read('server-key.pem'), cert: read(certificate) },
    (_, response) => {
      requests += 1
      response.end('{"data":[]}')
    },
  )
  server.on('tlsClientError', () => undefined)
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  atEnd(() => stop(server))
  const baseUrl = `https://127.0.0.1:${(server.address() as AddressInfo).port}/v2`
  return { baseUrl, requests: () => requests }
}

const connect = (baseUrl: string, certificateAuthority?: string) =>
  connectPlain(baseUrl, certificateAuthority === undefined ? {} : { certificateAuthority })

test('a service with a trusted certificate is read', { tags: ['H7'] }, async () => {
  const service = await startTlsService('valid.pem')
  const client = connect(service.baseUrl, read('authority.pem'))
  const { document } = await client.get('/containers')
  expect(document.data).toEqual([])
})

test.each([
  ['an expired certificate', 'expired.pem', 'CERT_HAS_EXPIRED'],
  ['a certificate of another host', 'other-host.pem', 'ERR_TLS_CERT_ALTNAME_INVALID'],
  ['a self-signed certificate', 'self-signed.pem', 'DEPTH_ZERO_SELF_SIGNED_CERT'],
])('%s ends the call before a key is sent', { tags: ['H7'] }, async (_name, certificate, code) => {
  const service = await startTlsService(certificate)
  const client = connect(service.baseUrl, read('authority.pem'))
  const error = await failureOf(client.get('/containers'))
  expect(error).toBeInstanceOf(ApiConnectionError)
  expect(error.message).toContain(code)
  expect(service.requests()).toBe(0)
  expect(client.stats()).toMatchObject({ requests: 1, retries: 0 })
  expect(inspect(error, { depth: 10 })).not.toContain(canaryKey)
})

test('an unknown authority is refused, whatever Node is told', { tags: ['H7'] }, async () => {
  vi.stubEnv('NODE_TLS_REJECT_UNAUTHORIZED', '0')
  const service = await startTlsService('valid.pem')
  const error = await failureOf(connect(service.baseUrl).get('/containers'))
  expect(error).toBeInstanceOf(ApiConnectionError)
  expect(service.requests()).toBe(0)
})

test('https spoken to a plain http server is a matter of settings', { tags: ['H7'] }, async () => {
  const { createServer: createPlainServer } = await import('node:http')
  const server = createPlainServer()
  const origin = await listen(server)
  atEnd(() => stop(server))
  const client = connect(`${origin.replace('http:', 'https:')}/v2`)
  expect(await failureOf(client.get('/containers'))).toBeInstanceOf(ApiConnectionError)
  expect(client.stats().requests).toBe(1)
})

test('a refused connection is tried again, then unavailable', { tags: ['H7'] }, async () => {
  for (const baseUrl of ['http://127.0.0.1:1/v2', 'http://no-such-host.invalid/v2']) {
    const client = connect(baseUrl)
    const error = await failureOf(client.get('/containers'))
    expect(error).toBeInstanceOf(ApiUnavailableError)
    expect(error.message).toContain('Given up after 6 tries')
    expect(client.stats()).toMatchObject({ requests: 6, retries: 5 })
  }
})
