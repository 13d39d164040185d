import { describe, expect, it } from 'vitest'
import type { Shown } from '../../support/scenes/answers.js'
import type { Scene } from '../sync/sync-scene.js'
import { doubledRows } from '../../support/doubled-rows.js'
import { useFaultScenes } from './fault-scene.js'
import { pageOf } from './http-faults.js'

const scenes = useFaultScenes()

/** Includes nothing, so that each container comes by its own list. */
const openPlainScene = (): Promise<Scene> =>
  scenes.open({ acceptedIncludes: { shipment: [], container: [] } })

/** Changes the records of the pages that are asked for. */
const rewrite = (
  { answers }: Scene,
  change: (records: readonly Shown[], page: number) => readonly Shown[],
) => answers.show('/shipments', (records, request) => change(records, pageOf(request)))

const renamed = (record: Shown, customer_name: string): Shown => ({
  ...record,
  attributes: { ...record.attributes, customer_name },
})

const namesOf = (scene: Scene, id: string): Promise<string[]> =>
  scene.column`select customer_name from tracking.shipments where shipment_id = ${id}`

async function countsOf(scene: Scene): Promise<unknown> {
  const [row] = await scene.rows`
    select fetched, inserted, updated, unchanged, stale, duplicate, quarantined
    from tracking_sync.sync_run_streams where stream = 'shipments'
    order by sync_run_id desc limit 1`
  return row
}

describe('the same id', { tags: ['P3'] }, () => {
  it('twice on one page is one row, and the second sighting is counted as a duplicate', async () => {
    const scene = await openPlainScene()
    rewrite(scene, (records) => records.flatMap((record) => [record, record]))
    expect(await scene.sync()).toMatchObject({ exitCode: 0, problems: [] })
    expect(await countsOf(scene)).toMatchObject({
      fetched: 12,
      inserted: 6,
      duplicate: 6,
      quarantined: 0,
    })
    expect(await scene.differences()).toEqual([])
  })

  it('on two pages is one row', { tags: ['release'] }, async () => {
    const scene = await openPlainScene()
    let last: Shown | undefined
    rewrite(scene, (records) => {
      const withLast = last === undefined ? records : [last, ...records]
      last = records.at(-1)
      return withLast
    })
    // More records than rows: nothing proves that none is hidden, until a person says so.
    expect(await scene.sync({ settings: { pageSize: 2 } })).toMatchObject({ exitCode: 6 })
    expect(await countsOf(scene)).toMatchObject({ inserted: 6 })
    const settings = { pageSize: 2, acceptShrink: true }
    expect(await scene.sync({ settings })).toMatchObject({ exitCode: 0 })
    expect(await scene.differences()).toEqual([])
    expect(await doubledRows(scene.warehouse)).toEqual([])
  })

  it.each(['backfill', 'sync'] as const)(
    'with two contents on one page is one row, and the later one stands, in a %s',
    { tags: ['release'] },
    async (command) => {
      const scene = await openPlainScene()
      if (command === 'sync') await scene.sync()
      let id = ''
      rewrite(scene, (records) => {
        const [first, ...others] = records
        if (first === undefined) return records
        id = first.id
        return [renamed(first, 'Earlier'), ...others, renamed(first, 'Later')]
      })
      const report = await scene.sync({ command })
      expect(report).toMatchObject({ exitCode: 0, problems: [] })
      expect(await namesOf(scene, id)).toEqual(['Later'])
      const versions = await scene.rows`
        select customer_name from tracking.shipment_history where shipment_id = ${id}
        and valid_to is null`
      expect(versions).toEqual([{ customer_name: 'Later' }])
    },
  )

  // On a later page of a sync a record that has not changed is known by its bytes and not read.
  it('with a change on a later page is the later one', { tags: ['release'] }, async () => {
    const scene = await openPlainScene()
    const settings = { pageSize: 2 }
    await scene.sync({ settings })
    const ids: string[] = []
    rewrite(scene, (records, page) => {
      const [first, ...others] = records
      if (page === 1 || first === undefined) return records
      ids[page] = first.id
      const changed = renamed(first, 'Changed')
      return page === 2 ? [first, ...others, changed] : [changed, ...others, first]
    })
    const known = await scene.rows<{ shipment_id: string; customer_name: string }>`
      select shipment_id, customer_name from tracking.shipments`
    const wasNamed = (id: string): unknown =>
      known.find(({ shipment_id }) => shipment_id === id)?.customer_name
    expect(await scene.sync({ command: 'sync', settings })).toMatchObject({ exitCode: 6 })
    expect(await namesOf(scene, ids[2]!)).toEqual(['Changed'])
    expect(await namesOf(scene, ids[3]!)).toEqual([wasNamed(ids[3]!)])
    expect(await countsOf(scene)).toMatchObject({ updated: 1 })
  })
})
