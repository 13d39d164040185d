import { sql } from 'kysely'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { resourceOfType, resources } from '../../../src/source/records/index.js'
import type { RunReport } from '../../../src/sync/run-sync.js'
import { readDelivery } from '../../../src/webhooks/receive/delivery.js'
import { storeDeliveries } from '../../../src/webhooks/receive/inbox.js'
import { queueMissingReferences } from '../../../src/warehouse/bookkeeping/refetch-queue.js'
import { emptyWarehouse } from '../../support/empty-warehouse.js'
import { readTables, unfoundLeaves, type StoredTables } from '../../support/find-leaves.js'
import { knowRecords } from '../../support/know-records.js'
import { runTestSync } from '../../support/run-test-sync.js'
import {
  readPayloads,
  startStandIn,
  type PayloadFile,
  type StandIn,
  type StandInRecord,
} from '../../support/stand-in-service.js'
import { snapshotRows } from '../../support/snapshot-tables.js'
import { createTestWarehouse, type TestWarehouse } from '../../support/test-warehouse.js'
import { openBench, statesOf } from '../webhooks/process-scene.js'

/** Every published payload we have, and payloads with everything that the service documents. */
const ALL = [...readPayloads('samples'), ...readPayloads('full-payloads')]
const isDelivery = ({ data }: PayloadFile): boolean => data[0]?.type === 'webhook_notification'
const ANSWERS = ALL.filter((file) => !isDelivery(file))
const DELIVERIES = ALL.filter(isDelivery)

/** The containers of the published ones are in no payload, so that nobody would ask for them. */
const EVENTS = ANSWERS.flatMap(({ data }) => data.filter(({ type }) => type === 'transport_event'))
/** Payloads that a run reads: webhooks are not in the lists of a sync. */
const READ = ANSWERS.filter(({ data }) => data[0]?.type !== 'webhook').map((file) =>
  file.name === 'containers-list.json'
    ? { ...file, included: [...file.included, ...EVENTS] }
    : file,
)

const INVENTED = { deep: [1, { and: 'deeper' }], until: null }

/** The answers, with an attribute and a relationship that nobody has heard of. */
function withInvented(files: readonly PayloadFile[]): PayloadFile[] {
  const links = { invented_by: { data: { type: 'user', id: 'nobody' } } }
  const invent = (record: StandInRecord): StandInRecord => ({
    ...record,
    attributes: { ...record.attributes, invented: INVENTED },
    relationships: { ...record.relationships, ...links },
  })
  return files.map((file) => ({
    ...file,
    data: file.data.map((record) => (record.type === 'container' ? invent(record) : record)),
  }))
}

let target: TestWarehouse
beforeAll(async () => {
  target = await createTestWarehouse()
})
afterAll(() => target.drop())

const recordsOf = (files: readonly PayloadFile[]): StandInRecord[] =>
  files.flatMap(({ data, included }) => [...data, ...included])

/** Read by id; nothing in the payloads points to some of them. */
const REFERENCES = ['port', 'terminal', 'vessel']

const readQuarantine = () =>
  target.warehouse.query('read the quarantine', sql`select * from tracking_sync.quarantine`)

function load(service: StandIn, command: 'backfill' | 'sync'): Promise<RunReport> {
  return runTestSync({ warehouse: target.warehouse, source: service, command })
}

describe('a service that knows payloads and not what they mean', { tags: ['K8'] }, () => {
  let service: StandIn
  let first: RunReport
  let tables: StoredTables
  beforeAll(async () => {
    await emptyWarehouse(target.warehouse)
    service = await startStandIn(READ)
    const references = recordsOf(READ).filter(({ type }) => REFERENCES.includes(type))
    await target.warehouse.transaction('queue what nothing points to', (session) =>
      queueMissingReferences(session, references),
    )
    first = await load(service, 'backfill')
    tables = await readTables(target.warehouse)
  })
  afterAll(() => service.close())

  it('is loaded whole, and a second run writes nothing', { tags: ['I2'] }, async () => {
    expect(first).toMatchObject({ outcome: 'complete', exitCode: 0, problems: [] })
    const { warehouse } = target
    expect(await readQuarantine()).toEqual([])
    const before = await snapshotRows(warehouse, { hasVersions: true })
    const second = await load(service, 'sync')
    expect(second).toMatchObject({ outcome: 'complete', exitCode: 0, problems: [] })
    // Two shipments came included and are in no list: that they are missed is noted.
    const after = await snapshotRows(warehouse, { hasVersions: true })
    expect({ ...after, absences: before.absences }).toEqual(before)
  })

  it('has a row for every record, and no other', () => {
    const idColumns = new Map<string, string>(
      resources.map(({ stream, idColumn }) => [stream, idColumn]),
    )
    const rows = [...tables].flatMap(([table, list]) => {
      const column = idColumns.get(table)
      return column === undefined ? [] : list.map((row) => `${table} ${String(row[column])}`)
    })
    const sent = recordsOf(READ).map(({ type, id }) => `${resourceOfType(type).stream} ${id}`)
    expect(rows.sort()).toEqual([...new Set(sent)].sort())
    expect(rows.length).toBe(43)
  })

  it('is asked for transport events only where they did not come included', () => {
    const known = new Set(recordsOf(READ).map(({ id }) => id))
    const withUnknown = recordsOf(READ).filter(({ type, relationships }) => {
      const named = relationships?.transport_events?.data as readonly { id: string }[] | undefined
      return type === 'container' && named?.some(({ id }) => !known.has(id))
    })
    const lists = service.requests.filter((path) => path.endsWith('/transport_events'))
    expect(withUnknown.length).toBeGreaterThan(3)
    const expected = withUnknown.map(({ id }) => `/v2/containers/${id}/transport_events`)
    expect([...new Set(lists)].sort()).toEqual([...new Set(expected)].sort())
  })

  it.each(READ.map((file) => [file.name, file] as const))(
    '%s: every value is in a column, a row below it or _unmapped',
    (_name, { data, included }) => {
      const records = [...data, ...included]
      expect(records.length).toBeGreaterThan(0)
      expect(records.flatMap((record) => unfoundLeaves(record, tables))).toEqual([])
    },
  )
})

describe('payloads with all that the service documents', { tags: ['K8'] }, () => {
  const full = readPayloads('full-payloads').filter((file) => !isDelivery(file))

  it('leave nothing in _unmapped, nothing flagged and nothing to tell', async () => {
    await emptyWarehouse(target.warehouse)
    const service = await startStandIn(full)
    const report = await load(service, 'backfill')
    await service.close()
    expect(report).toMatchObject({ outcome: 'complete', exitCode: 0, drift: [] })
    const tables = await readTables(target.warehouse)
    const named = recordsOf(full).filter(({ type }) => type !== 'user' && type !== 'party')
    for (const { type, id } of named) {
      const row = tables.get(`${type}s`)?.find((candidate) => candidate[`${type}_id`] === id)
      expect({ type, unmapped: row?._unmapped, coercions: row?._coercions }).toMatchObject({
        type,
        unmapped: null,
        coercions: null,
      })
    }
  })

  it('tell of what nobody documents, and keep it', async () => {
    await emptyWarehouse(target.warehouse)
    const invented = withInvented(full)
    const service = await startStandIn(invented)
    const report = await load(service, 'backfill')
    await service.close()
    expect([...report.drift].sort()).toEqual([
      'containers: new attribute "invented"; its values are kept in _unmapped',
      'containers: new attribute "relationships.invented_by"; its values are kept in _unmapped',
    ])
    const tables = await readTables(target.warehouse)
    expect(recordsOf(invented).flatMap((record) => unfoundLeaves(record, tables))).toEqual([])
  })
})

describe('deliveries', { tags: ['K8', 'release'] }, () => {
  let service: StandIn
  beforeAll(async () => {
    service = await startStandIn(READ)
  })
  afterAll(() => service.close())

  it.each(DELIVERIES.map((file) => [file.name, file] as const))(
    '%s: every value it brings is in a row, and its own in the inbox',
    async (_name, { data, included, bytes }) => {
      const { warehouse } = target
      await emptyWarehouse(warehouse)
      await knowRecords(warehouse, included)
      await storeDeliveries(warehouse, [readDelivery(bytes, {})])
      const { webhook } = data[0]?.relationships as { webhook: { data: { id: string } } }
      const own = { url: undefined, ids: [webhook.data.id] }
      const bench = openBench(warehouse, service, { own })
      await bench.processor.processAll()
      await bench.close()
      const thin = included.length === 0
      expect(await statesOf(warehouse)).toEqual({
        [data[0]?.id ?? '']: thin ? 'unresolved' : 'processed',
      })
      expect(await readQuarantine()).toEqual([])
      const tables = await readTables(warehouse)
      expect(included.flatMap((record) => unfoundLeaves(record, tables))).toEqual([])
      const inbox = await warehouse.query(
        'read the inbox',
        sql<{
          body: string
        }>`select convert_from(body, 'UTF8') as body from tracking_sync.webhook_notifications`,
      )
      expect(inbox.map(({ body }) => JSON.parse(body) as unknown)).toEqual([
        JSON.parse(bytes.toString()),
      ])
    },
  )
})
