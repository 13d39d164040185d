import { afterEach, describe, expect, test } from 'vitest'
import { closeScenes, HOUR, openScene, type Scene } from './sync-scene.js'

afterEach(closeScenes)

/** Rows of any table whose stamp is further ahead of the database's clock than a clock may be. */
async function ahead({ query }: Scene): Promise<number> {
  const tables = ['shipments', 'containers', 'transport_events', 'tracking_requests', 'ports']
  const parts = tables.map(
    (table) =>
      `select 1 as one from tracking.${table} where _observed_at > now() + interval '10 seconds'
        or _changed_at > now() + interval '10 seconds'`,
  )
  const passes = `select 1 as one from tracking_sync.checkpoints
    where completed_pass_started_at > now() + interval '10 seconds'`
  return (await query([...parts, passes].join(' union all '))).length
}

describe('rows that are stamped in the future', { tags: ['FA2', 'release'] }, () => {
  test.each([
    ['few', 2],
    ['many', 1_000],
  ])('make a sync incomplete, %s of them, and give way to a backfill', async (_name, rows) => {
    const scene = await openScene({ shipments: 20, startAt: new Date() })
    const { simulator } = scene
    await scene.sync()
    await scene.run`
      with put as (
        update tracking.containers
        set _observed_at = now() + interval '2 years', _changed_at = now() + interval '2 years'
        where container_id in (select container_id from tracking.containers
        order by 1 limit ${rows})
        returning container_id
      )
      update tracking.container_history set valid_from = now() + interval '2 years'
      where container_id in (select container_id from put)`
    const containers = scene.records('container')
    for (const { id } of containers) simulator.edits.change('container', id, { seal_number: 'X' })
    simulator.clock.advance(HOUR)
    const report = await scene.sync({ command: 'sync' })
    expect(report).toMatchObject({ outcome: 'incomplete', exitCode: 6 })
    expect(report.problems.join()).toContain('run `tracking-sync backfill`')
    expect(await scene.differences()).not.toEqual([])
    simulator.clock.advance(HOUR)
    await scene.sync()
    expect(await ahead(scene)).toBe(0)
    const known = await scene.rows<{ seal_number: string }>`
      select distinct seal_number from tracking.containers`
    expect(known).toEqual([{ seal_number: 'X' }])
  })
})
