import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { WarehouseUnavailableError } from '../../../src/base/errors.js'
import { silentLogger } from '../../../src/base/logger.js'
import { createMcpRoute, type McpRoute } from '../../../src/extensions/mcp/http-route.js'
import { startHttpServer, type HttpServer } from '../../../src/http/http-server.js'
import { SchemaNames } from '../../../src/warehouse/connection/schema-names.js'

const open = () => Promise.reject(new WarehouseUnavailableError('away; try later'))

let server: HttpServer
let mcp: McpRoute
let client: Client
let address: string

beforeAll(async () => {
  mcp = await createMcpRoute({
    names: new SchemaNames('tracking'),
    isSqlOn: false,
    programVersion: '1.0.0',
    logger: silentLogger,
    redact: (text) => text,
    hosts: new Set(['ask.example']),
    admit: () => Promise.resolve({ session: { open } }),
    takeTurn: () => Promise.resolve(),
  })
  server = await startHttpServer({
    httpPort: 0,
    routes: { '/mcp': mcp.route },
    logger: silentLogger,
    limits: { requestsPerConnection: 5 },
  })
  address = `${server.url}/mcp`
  client = new Client({ name: 'test', version: '1' })
  await client.connect(new StreamableHTTPClientTransport(new URL(address)))
})

afterAll(async () => {
  await client.close()
  await mcp.close()
  await server.stop(1_000)
})

describe('MCP over HTTP', { tags: ['JM2'] }, () => {
  it('says in a sentence that the database is away, and goes on', async () => {
    for (let time = 0; time < 2; time += 1) {
      const result = await client.callTool({ name: 'find', arguments: { number: 'ABCD' } })
      expect(result).toMatchObject({ isError: true, content: [{ text: 'away; try later' }] })
    }
  })

  it.each([
    ['a page of another origin', { origin: 'https://evil.example' }, '{}', 403],
    ['another media type', { 'content-type': 'text/plain' }, '{}', 415],
    ['a body that is too large', {}, `"${'x'.repeat(300_000)}"`, 413],
    ['a text that is not JSON', {}, '{', 400],
    ['a list of calls', {}, ' [{"jsonrpc":"2.0","id":1,"method":"ping"}]', 400],
  ])('refuses %s', async (_, headers, body, status) => {
    const { status: got } = await fetch(address, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        accept: 'application/json, text/event-stream',
        ...(headers as Record<string, string>),
      },
      body,
    })
    expect(got).toBe(status)
  })

  it('leaves the connection to the server, which ends it after some requests', async () => {
    const post = (method: string) =>
      fetch(address, {
        method: 'POST',
        headers: {
          'content-type': 'application/json',
          accept: 'application/json, text/event-stream',
        },
        body: JSON.stringify({ jsonrpc: '2.0', id: 1, method }),
      })
    const statuses: number[] = []
    for (let time = 0; time < 20; time += 1) {
      const answer = await post('ping')
      await answer.text()
      statuses.push(answer.status)
    }
    expect(new Set(statuses)).toEqual(new Set([200]))
  })

  it('has no sessions to open or end', async () => {
    for (const method of ['GET', 'DELETE']) {
      const { status } = await fetch(address, { method, headers: { accept: 'text/event-stream' } })
      expect([method, status]).toEqual([method, 405])
    }
  })
})
