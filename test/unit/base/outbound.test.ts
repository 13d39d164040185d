import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { createServer as createProxy, type Server } from 'node:http'
import { createServer as createService } from 'node:https'
import { connect, type AddressInfo } from 'node:net'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { ApiConnectionError } from '../../../src/base/errors.js'
import type { ProxySettings } from '../../../src/base/outbound.js'
import { failureOf, listen, stop, useServices } from '../api/fake-service.js'

const read = (name: string): string =>
  readFileSync(new URL(`../../fixtures/tls/${name}`, import.meta.url), 'utf8')

let service: Server
let proxy: Server
/** Of each tunnel that was asked for: where to, and with which login. */
let tunnels: string[]
/** Of each request that came to the service. */
let requests: string[]
let status = 200

beforeEach(async () => {
  tunnels = []
  requests = []
  status = 200
  service = createService(
    { key: read('server-key.pem'), cert: read('other-host.pem') },
    (request, response) => {
      requests.push(`${request.method} ${request.url} ${request.headers.host}`)
      response.writeHead(200, { 'content-type': 'application/json' }).end('{"data":[]}')
    },
  )
  service.listen(0, '127.0.0.1')
  await once(service, 'listening')
  proxy = createProxy()
  // For every name the tunnel ends at the service.
  proxy.on('connect', (request, socket) => {
    tunnels.push(`${request.url} ${request.headers['proxy-authorization'] ?? 'without a login'}`)
    if (status !== 200) return socket.end(`HTTP/1.1 ${status} No\r\n\r\n`)
    const upstream = connect((service.address() as AddressInfo).port, '127.0.0.1')
    socket.write('HTTP/1.1 200 OK\r\n\r\n')
    upstream.pipe(socket).pipe(upstream)
    upstream.on('error', () => socket.destroy())
    socket.on('error', () => upstream.destroy())
  })
  await listen(proxy)
})

afterEach(async () => {
  await stop(service)
  await stop(proxy)
})

const proxyHost = (): string => `127.0.0.1:${(proxy.address() as AddressInfo).port}`

// Its clients are closed before the servers are.
const services = useServices()
const openClient = (baseUrl: string, proxy: ProxySettings) =>
  services.connect(baseUrl, { certificateAuthority: read('authority.pem'), proxy })

describe('HTTPS_PROXY', { tags: ['JB5'] }, () => {
  test('carries the requests of a service through tunnels, with the login it names', async () => {
    const client = openClient('https://other.example/v2', { url: `me:s%3Acret@${proxyHost()}` })
    for (let asked = 0; asked < 2; asked += 1) await client.get('/containers')
    const login = Buffer.from('me:s:cret').toString('base64')
    expect(new Set(tunnels)).toEqual(new Set([`other.example:443 Basic ${login}`]))
    expect(requests).toEqual(Array(2).fill('GET /v2/containers other.example'))
  })

  test.each(['other.example', '.example, elsewhere.test', '*'])(
    'is not used for hosts in NO_PROXY (%s)',
    async (noProxy) => {
      const client = openClient('https://other.example/v2', { url: proxyHost(), noProxy })
      // The name lacks an address: the request fails at the look-up, and the proxy saw nothing.
      expect(String(await failureOf(client.get('/containers')))).toMatch(/ENOTFOUND|EAI_AGAIN/)
      expect(tunnels).toEqual([])
    },
  )

  test('is not used for this machine', async () => {
    const { port } = service.address() as AddressInfo
    const client = openClient(`https://127.0.0.1:${port}/v2`, { url: proxyHost() })
    // Its certificate is of another host; what counts is who was asked.
    expect(String(await failureOf(client.get('/containers')))).toContain('ALTNAME')
    expect(tunnels).toEqual([])
  })

  test('that is away is named beside the host', async () => {
    const client = openClient('https://other.example/v2', { url: '127.0.0.1:9' })
    expect(String(await failureOf(client.get('/containers')))).toMatch(
      /the connection was refused \(ECONNREFUSED\)\. HTTPS_PROXY is set: check that address too/,
    )
  })

  test.each([
    [407, 'Give it a user and a password in HTTPS_PROXY'],
    [403, 'Check HTTPS_PROXY'],
  ])('that answers %d is told as what it is, once', async (answer, advice) => {
    status = answer
    const client = openClient('https://other.example/v2', { url: proxyHost() })
    const failure = await failureOf(client.get('/containers'))
    expect(failure).toBeInstanceOf(ApiConnectionError)
    expect(String(failure)).toContain(`the proxy answered ${answer} and did not connect. ${advice}`)
    expect(tunnels).toHaveLength(1)
  })
})
