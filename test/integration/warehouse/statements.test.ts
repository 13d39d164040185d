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
  // One with other values is the same.
  for (const limit of [1, 20]) {
    expect(recordStatement(`select x from g where y = 'n ${limit}' limit ${limit}`)).toBeUndefined()
  }
  expect(recordStatement('select from h', 251)).toContain('251 parameters')
})

/** The recorder checks at the end of this file that the statements are the same. */
test.each([1, 2, 70_000])(
  'lists of %d records are written, each with one statement',
  { tags: ['FB1', 'FB5', 'FG5'] },
  async (size) => {
    const { warehouse } = scene
    const ids = Array.from({ length: Math.min(size, 3_000) }, (_, at) => `id-${at}`)
    const entries = ids.map((id) => ({ type: 'container', id }))
    const records = Array.from({ length: size }, (_, at) => ({
      stream: 'containers',
      resourceType: null,
      recordId: null,
      reason: `test of ${size}`,
      pointer: '',
      payload: `[${size}, ${at % 1_000}]`,
      source: 'test',
    }))
    let statements = 0
    await warehouse.transaction('write', async (session) => {
      await queueRefetches(session, entries, 'test')
      await releaseRefetches(session, entries, 1_000)
      await countAbsences(session, 'containers', ids, 1)
      await forgetAbsences(session, 'containers', ids)
      await recordTransportEventChecks(session, ids)
      const counting: Session = {
        ...session,
        query: (...statement) => {
          statements += 1
          return session.query(...statement)
        },
      }
      await quarantineRecords(counting, [...records, ...records], null)
    })
    expect(statements).toBe(1)
    const rows = await scene.rows`
      select count(*)::int as rows, sum(sightings)::int as sightings
      from tracking_sync.quarantine where reason = ${`test of ${size}`}`
    expect(rows).toEqual([{ rows: Math.min(size, 1_000), sightings: 2 * size }])
  },
)
