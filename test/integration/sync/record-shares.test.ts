import { expect, it } from 'vitest'
import { findNeverFilled } from '../../../src/extensions/doctor/find-never-filled.js'
import { findSilences } from '../../../src/warehouse/bookkeeping/pass-shares.js'
import { HOUR, openScene } from './sync-scene.js'

it('hears a column, a list and a table fall silent', { tags: ['JS1'] }, async () => {
  const scene = await openScene({ shipments: 52 })
  const { clock, edits, world } = scene.simulator
  const silences = async (): Promise<string[]> =>
    (await findSilences(scene.warehouse)).map(({ table, column }) => `${table}.${column}`)
  const pass = async (command: 'sync' | 'backfill' = 'sync'): Promise<string[]> => {
    await scene.run`update tracking_sync.pass_shares set passed_at = passed_at - interval '1 day'`
    await scene.sync({ command })
    return silences()
  }
  expect(await pass('backfill')).toEqual([])
  for (let days = 0; days < 60; days += 20) {
    clock.advance(20 * 24 * HOUR)
    expect(await pass()).toEqual([])
  }
  const [kept] = await scene.rows<{ tables: number; values: number }>`
    select count(distinct table_name)::int as tables, sum(filled)::int as values
    from tracking_sync.pass_shares where column_name != ''`
  expect(kept!.tables).toBeGreaterThanOrEqual(8)
  expect(kept!.values).toBeGreaterThan(5_000)
  expect(await findNeverFilled(scene.warehouse)).not.toContain('shipments')
  expect(await findNeverFilled(scene.warehouse)).not.toContain('vessels')

  const fault = scene.answers.show('/shipments', (records) =>
    records.map((record) => ({
      ...record,
      attributes: { ...record.attributes, customer_name: undefined },
    })),
  )
  expect(await pass()).toEqual(['shipments.customer_name'])
  // Nothing is new now, and it is silent still.
  expect(await pass()).toEqual(['shipments.customer_name'])
  fault.remove()

  await scene.run`update tracking.vessels set _deleted_at = now()`
  const requests = world.counts(clock.now()).tracking_request
  for (const { id } of world.page('tracking_request', 0, Math.ceil(requests * 0.6), clock.now())) {
    edits.delete('tracking_request', id)
  }
  expect(await pass()).toEqual(['tracking_requests.', 'vessels.'])
})
