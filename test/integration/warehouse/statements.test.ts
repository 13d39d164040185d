import { expect, test } from 'vitest'
import { countAbsences, forgetAbsences } from '../../../src/warehouse/bookkeeping/absences.js'
import { quarantineRecords } from '../../../src/warehouse/bookkeeping/quarantined-records.js'
import {
  queueRefetches,
  releaseRefetches,
} from '../../../src/warehouse/bookkeeping/refetch-queue.js'
import { recordTransportEventChecks } from '../../../src/warehouse/bookkeeping/transport-event-checks.js'
import type { Session } from '../../../src/warehouse/connection/warehouse.js'
import { recordStatement } from '../../support/statement-recorder.js'
import { useTestWarehouse } from '../../support/reused-warehouse.js'

const scene = useTestWarehouse()

test.each([
  ['insert into a values ($1, $2)', 'insert into a values ($1, $2), ($3, $4)'],
  [
    'delete from d where y = any (array[$1]::text[])',
    'delete from d where y = any (array[$1, $2]::text[])',
  ],
  [`delete from e where x in ('one')`, `delete from e where x in ('two', 'it''s')`],
])('the recorder notices a list that grows: %s', { tags: ['FB1'] }, (one, other) => {
  expect(recordStatement(one, 0)).toBeUndefined()
  expect(recordStatement(one, 0)).toBeUndefined()
  expect(recordStatement(other, 0)).toContain('and')
})

test('the recorder takes one statement with other values for what it is', { tags: ['FB1'] }, () => {
  for (const limit of [1, 20]) {
    expect(recordStatement(`select x from g where y = 'n ${limit}' limit ${limit}`)).toBeUndefined()
  }
  expect(recordStatement('select from h', 251)).toContain('251 parameters')
})

/** The recorder checks at the end of this file that the statements are the same. */
test.each([1, 2, 3_000])(
  'lists of %d records are written',
  { tags: ['FB1', 'FB5'] },
  async (size) => {
    const { warehouse } = scene
    const ids = Array.from({ length: size }, (_, at) => `id-${at}`)
    const entries = ids.map((id) => ({ type: 'container', id }))
    await warehouse.transaction('write', async (session) => {
      await queueRefetches(session, entries, 'test')
      await releaseRefetches(session, entries, 1_000)
      await countAbsences(session, 'containers', ids, 1)
      await forgetAbsences(session, 'containers', ids)
      await recordTransportEventChecks(session, ids)
      const records = [...ids, ...ids].map((id) => ({
        stream: 'containers',
        resourceType: null,
        recordId: id,
        reason: 'test',
        pointer: '',
        payload: JSON.stringify({ id }),
        source: 'test',
      }))
      await quarantineRecords(session, records, null)
    })
    expect(
      await scene.rows`
        select count(*)::int as count, min(sightings)::int as sightings
        from tracking_sync.quarantine where record_id = any(${ids.slice(-1)}::text[])`,
    ).toEqual([{ count: 1, sightings: 2 }])
  },
)

test('70,000 unusable records are one statement', { tags: ['FG5'] }, async () => {
  const { warehouse } = scene
  const records = Array.from({ length: 70_000 }, (_, at) => ({
    stream: 'shipments',
    resourceType: null,
    recordId: null,
    reason: 'test',
    pointer: '',
    payload: String(at % 1_000),
    source: 'test',
  }))
  let statements = 0
  await warehouse.transaction('set aside', async (session) => {
    const counting: Session = {
      ...session,
      query: (...statement) => {
        statements += 1
        return session.query(...statement)
      },
    }
    await quarantineRecords(counting, records, null)
  })
  expect(statements).toBe(1)
  const [row] = await scene.rows`
    select count(*)::int as rows, sum(sightings)::int as sightings
    from tracking_sync.quarantine where stream = 'shipments'`
  expect(row).toEqual({ rows: 1_000, sightings: 70_000 })
})
