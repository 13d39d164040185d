import { sql } from 'kysely'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { resourceOfType, resources } from '../../../src/source/records/index.js'
import type { RunReport } from '../../../src/sync/run-sync.js'
import { queueMissingReferences } from '../../../src/warehouse/bookkeeping/refetch-queue.js'
import { runTestSync } from '../../support/run-test-sync.js'
import {
  DELIVERIES,
  readSample,
  startSampleService,
  type JsonObject,
  type SampleRecord,
  type SampleService,
} from '../../support/sample-service.js'
import { createTestWarehouse, type TestWarehouse } from '../../support/test-warehouse.js'

/**
 * Every published record but the notifications themselves and the webhook: no list of a sync holds
 * those.
 */
const published: readonly SampleRecord[] = [
  ...[
    'container-get',
    'container-transport-events',
    'containers-list',
    'port-get',
    'shipments-list',
    'terminal-get',
    'tracking-request-get',
    'vessel-get',
    'webhook-events',
  ].flatMap((name) => [...readSample(name).data, ...readSample(name).included]),
  ...DELIVERIES.flatMap((name) => readSample(name).included),
]

type Row = Readonly<Record<string, unknown>>

let service: SampleService
let target: TestWarehouse
let first: RunReport
let second: RunReport
let afterFirst: ReadonlyMap<string, readonly string[]>
let afterSecond: ReadonlyMap<string, readonly string[]>
/** Rows by `type id`. */
const rows = new Map<string, Row>()
/** Types of columns by `table.column`. */
const columnTypes = new Map<string, string>()

beforeAll(async () => {
  service = await startSampleService()
  target = await createTestWarehouse()
  const { warehouse } = target
  // Nothing published points to these two; this is how anything that does would have them read.
  const unlinked = [...readSample('port-get').data, ...readSample('vessel-get').data]
  await warehouse.transaction('queue what nothing points to', (session) =>
    queueMissingReferences(session, unlinked),
  )
  first = await runTestSync({ warehouse, source: service })
  afterFirst = await rowVersions()
  second = await runTestSync({ warehouse, source: service, command: 'sync' })
  afterSecond = await rowVersions()
  await readColumnTypes()
  await readRows()
})

afterAll(async () => {
  await service.close()
  await target.drop()
})

async function dataTables(): Promise<string[]> {
  const tables = await target.warehouse.query(
    'list the data tables',
    sql<{ name: string }>`select table_name as name from information_schema.tables
where table_schema = 'tracking' and table_type = 'BASE TABLE' order by table_name`,
  )
  return tables.map(({ name }) => name)
}

/**
 * The transaction that wrote each row of each table: every write of a row changes it.
 */
async function rowVersions(): Promise<Map<string, string[]>> {
  const versions = new Map<string, string[]>()
  for (const table of await dataTables()) {
    const found = await target.warehouse.query(
      'read row versions',
      sql<{
        version: string
      }>`select ctid::text || ' ' || xmin::text as version from tracking."${sql.raw(table)}" order by 1`,
    )
    versions.set(
      table,
      found.map(({ version }) => version),
    )
  }
  return versions
}

async function readColumnTypes(): Promise<void> {
  const found = await target.warehouse.query(
    'read the types of columns',
    sql<{
      name: string
      type: string
    }>`select table_name || '.' || column_name as name, data_type as type
from information_schema.columns where table_schema = 'tracking'`,
  )
  for (const { name, type } of found) columnTypes.set(name, type)
}

async function readRows(): Promise<void> {
  for (const { stream, idColumn } of resources) {
    const found = await target.warehouse.query(
      'read rows',
      sql<{
        row: Row
      }>`select to_jsonb(stored) as row from tracking."${sql.raw(stream)}" as stored`,
    )
    for (const { row } of found) rows.set(`${stream} ${String(row[idColumn])}`, row)
  }
}

function rowOf({ type, id }: SampleRecord): Row | undefined {
  return rows.get(`${resourceOfType(type).stream} ${id}`)
}

/** The value that a column must hold, by its type in PostgreSQL. */
function comparable(value: unknown, type: string | undefined): unknown {
  if (value === null || value === undefined) return value
  if (type === 'timestamp with time zone') return new Date(value as string).getTime()
  if (type === 'numeric' || type === 'integer') return Number(value)
  return value
}

/** Each attribute of a record beside what the warehouse has of it. */
function compareAttributes(record: SampleRecord): { sent: JsonObject; stored: JsonObject } {
  const { stream } = resourceOfType(record.type)
  const row = rowOf(record) ?? {}
  const unmapped = (row._unmapped ?? {}) as Row
  const sent: Record<string, unknown> = {}
  const stored: Record<string, unknown> = {}
  for (const [name, value] of Object.entries((record.attributes ?? {}) as Row)) {
    const type = columnTypes.get(`${stream}.${name}`)
    if (name === 'id' && value === record.id) continue
    sent[name] = comparable(value, type)
    stored[name] = type === undefined ? unmapped[name] : comparable(row[name], type)
  }
  return { sent, stored }
}

interface Identifier {
  readonly type: string
  readonly id: string
}

interface Linkage {
  readonly data?: Identifier | readonly Identifier[] | null
}

/** Each relationship of a record beside what the warehouse has of it. */
function compareRelationships(record: SampleRecord): { sent: JsonObject; stored: JsonObject } {
  const { stream, relationships, ignoredRelationships = [] } = resourceOfType(record.type)
  const row = rowOf(record) ?? {}
  const unmapped = (row._unmapped ?? {}) as Row
  const sent: Record<string, unknown> = {}
  const stored: Record<string, unknown> = {}
  for (const [name, linkage] of Object.entries(
    (record.relationships ?? {}) as Record<string, Linkage>,
  )) {
    if (ignoredRelationships.includes(name)) continue
    const { data } = linkage
    if (!relationships.has(name)) {
      sent[name] = linkage
      stored[name] = unmapped[`relationships.${name}`]
    } else if (Array.isArray(data)) {
      sent[name] = (data as Identifier[]).map(({ id }) => id).sort()
      stored[name] = row[`${name.replace(/s$/, '')}_ids`]
    } else {
      const one = data as Identifier | null
      const hasType = columnTypes.has(`${stream}.${name}_type`)
      sent[name] = [one?.id ?? null, hasType ? (one?.type ?? null) : null]
      stored[name] = [row[`${name}_id`], hasType ? row[`${name}_type`] : null]
    }
  }
  return { sent, stored }
}

function linkedEvents({ relationships }: SampleRecord): readonly Identifier[] {
  const { data } = (relationships as Record<string, Linkage>).transport_events ?? {}
  return Array.isArray(data) ? (data as Identifier[]) : []
}

describe(
  'the published payloads, served over a socket as the lists, reads and included resources they are',
  { tags: ['K8'] },
  () => {
    test('sync with exit code 0, and nothing is quarantined', { tags: ['K8'] }, async () => {
      expect(first.problems).toEqual([])
      expect(first).toMatchObject({ outcome: 'complete', exitCode: 0 })
      expect(second).toMatchObject({ outcome: 'complete', exitCode: 0, problems: [] })
      const quarantined = await target.warehouse.query(
        'read the quarantine',
        sql`select * from tracking_sync.quarantine`,
      )
      expect(quarantined).toEqual([])
    })

    test(
      'were asked for as lists, reads by id and the catalogue of events; events only where they did not come included',
      { tags: ['K8'] },
      () => {
        const paths = new Set(service.requests.map((request) => request.split('?')[0]))
        const ids = ['port-get', 'terminal-get', 'vessel-get'].map(
          (name) => readSample(name).data[0]!.id,
        )
        const known = new Set(published.map(({ id }) => id))
        const containerIds = published
          .filter(({ type }) => type === 'container')
          .filter((record) => linkedEvents(record).some(({ id }) => !known.has(id)))
          .map(({ id }) => id)
        expect(containerIds).toHaveLength(9)
        expect([...paths]).toEqual(
          expect.arrayContaining([
            '/v2/shipments',
            '/v2/containers',
            '/v2/tracking_requests',
            '/v2/webhooks/events',
            `/v2/ports/${String(ids[0])}`,
            `/v2/terminals/${String(ids[1])}`,
            `/v2/vessels/${String(ids[2])}`,
            ...containerIds.map((id) => `/v2/containers/${id}/transport_events`),
          ]),
        )
      },
    )

    test(
      'every published record has its row, and no other record has one',
      { tags: ['K8'] },
      () => {
        const expected = new Set(
          published.map(({ type, id }) => `${resourceOfType(type).stream} ${id}`),
        )
        expect([...rows.keys()].sort()).toEqual([...expected].sort())
        expect(rows.size).toBe(52)
      },
    )

    test('no row is a tombstone, and no value had to be coerced', { tags: ['K8'] }, () => {
      for (const [name, row] of rows) {
        expect(row._deleted_at, name).toBeNull()
        expect(row._coercions, name).toBeNull()
      }
    })

    test.each(published.map((record) => [`${record.type} ${record.id}`, record] as const))(
      '%s: each attribute and relationship is the one of the payload',
      { tags: ['K8'] },
      (_name, record) => {
        const attributes = compareAttributes(record)
        expect(attributes.stored).toEqual(attributes.sent)
        const relationships = compareRelationships(record)
        expect(relationships.stored).toEqual(relationships.sent)
      },
    )

    test(
      'the keys of import_deadlines are columns too, and rows with their local date',
      { tags: ['K8'] },
      async () => {
        const withDeadlines = published.filter(({ type }) => type === 'container')
        let compared = 0
        for (const record of withDeadlines) {
          const attributes = record.attributes as Row
          const deadlines = (attributes.import_deadlines ?? {}) as Row
          for (const [kind, value] of Object.entries(deadlines)) {
            const stored = rowOf(record)?.[kind]
            expect(comparable(stored, 'timestamp with time zone')).toEqual(
              comparable(value, 'timestamp with time zone'),
            )
            compared += value === null ? 0 : 1
          }
        }
        expect(compared).toBeGreaterThan(3)
        const local = await target.warehouse.query(
          'read a deadline',
          sql`select kind, deadline_at::text as deadline_at, time_zone, local_date::text as local_date, is_zone_known
from tracking.container_import_deadlines
where container_id = '4932792a-0154-4f57-83eb-11d4418b6e05' order by kind`,
        )
        expect(local).toEqual([
          {
            kind: 'pickup_lfd',
            deadline_at: '2026-02-26 05:00:00+00',
            // The zone of the rail day, which it repeats.
            time_zone: 'America/Detroit',
            local_date: '2026-02-26',
            is_zone_known: true,
          },
          {
            kind: 'pickup_lfd_rail',
            deadline_at: '2026-02-26 05:00:00+00',
            time_zone: 'America/Detroit',
            local_date: '2026-02-26',
            is_zone_known: true,
          },
        ])
      },
    )

    test('a link to another record than its own is kept', { tags: ['K8'] }, () => {
      const odd = published.filter(({ type, id, links }) => {
        const self = (links as { self?: string } | undefined)?.self
        return self !== undefined && self !== `/v2/${resourceOfType(type).path ?? ''}/${id}`
      })
      expect(odd.length).toBeGreaterThan(3)
      for (const record of odd) {
        const unmapped = rowOf(record)?._unmapped as Row
        expect(unmapped['links.self']).toBe((record.links as { self: string }).self)
      }
    })

    test(
      'a second run over the same payloads touches no row of any table',
      { tags: ['I2'] },
      () => {
        expect([...afterFirst.values()].flat().length).toBeGreaterThan(rows.size)
        expect(afterSecond).toEqual(afterFirst)
        const written = second.streams.map(({ stream, counts }) => [
          stream,
          counts.inserted + counts.updated + counts.tombstoned,
        ])
        expect(written).toEqual(second.streams.map(({ stream }) => [stream, 0]))
      },
    )
  },
)
