import fc from 'fast-check'
import { afterAll, expect, it } from 'vitest'
import { silentLogger } from '../../../../src/base/logger.js'
import { SchemaNames } from '../../../../src/warehouse/connection/schema-names.js'
import { createCompiler } from '../../../../src/warehouse/connection/typed-statements.js'
import type { Statement } from '../../../../src/warehouse/connection/typed-database.js'
import type { Warehouse } from '../../../../src/warehouse/connection/warehouse.js'
import { SenderAddresses } from '../../../../src/webhooks/receive/sender-addresses.js'
import { anyHeaders } from '../../../support/any-headers.js'
import { openRaw, statusesOf } from '../../../support/raw-http.js'
import {
  DEFAULT_SIGNATURE,
  notificationBody,
  signBody,
  startTestReceiver,
} from '../../../support/test-receiver.js'

/** Every header of a delivery that this program or Node's parser reads. */
const READ = [
  'Content-Type',
  'Content-Encoding',
  'Content-Length',
  'Transfer-Encoding',
  'Connection',
  'Expect',
  'Date',
  'User-Agent',
  'X-Request-Id',
  'X-Forwarded-For',
  DEFAULT_SIGNATURE.header,
  'Host',
]

const problems: unknown[] = []
const logger = {
  ...silentLogger,
  error: (message: string, fields?: unknown) => problems.push({ message, fields }),
}

const stored: string[] = []
const { compile } = createCompiler(new SchemaNames('tracking'))
const warehouse = {
  names: new SchemaNames('tracking'),
  query: (_action: string, statement: Statement<unknown>) => {
    const { parameters } = compile(statement)
    stored.push(String(parameters.find((one) => typeof one === 'string')))
    return Promise.resolve([])
  },
} as unknown as Warehouse

const receiver = await startTestReceiver({
  warehouse,
  logger,
  senders: {
    addresses: new SenderAddresses({
      load: () => Promise.reject(new Error('not asked')),
      clock: () => new Date(),
      sleep: () => Promise.resolve(),
      logger,
      known: ['192.0.2.1'],
    }),
    trustedProxyHops: 1,
  },
})

afterAll(() => receiver.stop())

it('whatever the headers of a delivery are, it is no fault', { tags: ['JC8'] }, async () => {
  const body = notificationBody('one')
  const good = {
    Host: 'x',
    'Content-Type': 'application/json',
    'Content-Length': String(Buffer.byteLength(body)),
    'X-Forwarded-For': '192.0.2.1',
    [DEFAULT_SIGNATURE.header]: signBody(body),
  }
  const seen = new Set<number>()
  await fc.assert(
    fc.asyncProperty(anyHeaders(READ), async (odd) => {
      // The odd ones in place of the good, or beside them; and some are missing.
      const kept = Object.entries(good).filter(
        ([name], at) => (odd.length + at) % 7 > (odd.includes(`${name}: `) ? 4 : 0),
      )
      const lines = kept.map(([name, value]) => `${name}: ${value}\r\n`).join('')
      const text = `POST /webhooks HTTP/1.1\r\n${lines}${odd}\r\n${body}`
      const connection = await openRaw(receiver.server.httpPort, Buffer.from(text, 'latin1'))
      connection.socket.end()
      for (const status of statusesOf(await connection.closed())) seen.add(status)
      expect(problems).toEqual([])
    }),
    { numRuns: 120, seed: 38 },
  )
  // Each class was met, and no 500: else nothing is shown of it.
  expect([...seen].sort()).toEqual([100, 202, 400, 401, 403, 415, 417])
  expect(stored.length).toBeGreaterThan(5)
  // `jsonb` refuses this.
  expect(stored.filter((rows) => rows.includes('\\u0000'))).toEqual([])
})
