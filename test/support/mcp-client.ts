import { Client, ProtocolError, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { repositoryDirectory } from './run-cli.js'

/** The result of a tool: JSON, or the sentence of an error, also of one of the protocol. */
export interface ToolResult {
  readonly isError: boolean
  readonly text: string
  /** Of a result that is not an error. */
  readonly data: Readonly<Record<string, unknown>>
}

/** The official client. */
export interface McpConnection {
  readonly client: Client
  call(tool: string, given?: Readonly<Record<string, unknown>>): Promise<ToolResult>
  close(): Promise<void>
}

/** To the door of `serve --mcp`. */
export async function connectMcp(
  address: string,
  headers: Readonly<Record<string, string>> = {},
): Promise<McpConnection> {
  const client = new Client({ name: 'test', version: '1' })
  const requestInit = { headers: { ...headers } }
  await client.connect(new StreamableHTTPClientTransport(new URL(address), { requestInit }))
  return connectionOf(client)
}

function connectionOf(client: Client): McpConnection {
  return {
    client,
    call: async (name, given = {}) => {
      const asked = client.callTool({ name, arguments: { ...given } })
      const result = await asked.catch((thrown: unknown) => {
        if (!(thrown instanceof ProtocolError)) throw thrown
        return { isError: true, content: [{ type: 'text' as const, text: thrown.message }] }
      })
      const [content] = result.content
      if (content?.type !== 'text') throw new Error(`${name} gave no text`)
      const { text } = content
      const isError = result.isError === true
      return { isError, text, data: isError ? {} : (JSON.parse(text) as ToolResult['data']) }
    },
    close: () => client.close(),
  }
}

/** `tracking-sync mcp` in a process of its own, and the official client on the other end. */
export async function startMcp(
  args: readonly string[],
  env: Readonly<Record<string, string>>,
): Promise<McpConnection> {
  const transport = new StdioClientTransport({
    command: process.execPath,
    args: [join(repositoryDirectory, 'dist', 'program', 'cli.js'), 'mcp', ...args],
    env: { PATH: process.env.PATH ?? '', TRACKING_LOG_LEVEL: 'silent', ...env },
    cwd: tmpdir(),
  })
  const client = new Client({ name: 'test', version: '1' })
  await client.connect(transport)
  return connectionOf(client)
}

export interface McpReader {
  readonly url: string
  drop(): Promise<void>
}

/** A login that reads the warehouse as `tracking_reader` does; that role is the server's. */
export async function createMcpReader(scene: {
  readonly url: string
  query(sqlText: string): Promise<unknown>
}): Promise<McpReader> {
  const name = `mcp_reader_${process.pid}`
  const schemas = ['tracking', 'tracking_analytics', 'tracking_as_of', 'tracking_sync'].join()
  await scene.query(`create role ${name} login password 'mcp'`)
  await scene.query(`grant usage on schema ${schemas} to ${name}`)
  await scene.query(`grant select on all tables in schema ${schemas} to ${name}`)
  await scene.query(`revoke select on tracking_sync.quarantine from ${name}`)
  const url = new URL(scene.url)
  ;[url.username, url.password] = [name, 'mcp']
  return {
    url: url.href,
    drop: async () => {
      await scene.query(`drop owned by ${name}`)
      await scene.query(`drop role ${name}`)
    },
  }
}
