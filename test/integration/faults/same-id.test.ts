import { describe, expect, it } from 'vitest'
import type { Shown } from '../../support/scenes/answers.js'
import type { Scene } from '../sync/sync-scene.js'
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
  it.each(['backfill', 'sync'] as const)(
    'twice on one page is one row with the later content, and counts as a duplicate, in a %s',
    async (command) => {
      const scene = await openPlainScene()
      if (command === 'sync') await scene.sync()
      let id = ''
      rewrite(scene, (records) => {
        const [first, ...others] = records
        if (first === undefined) return records
        id = first.id
        return [renamed(first, 'Earlier'), ...others, ...others, renamed(first, 'Later')]
      })
      expect(await scene.sync({ command })).toMatchObject({ exitCode: 0, problems: [] })
      const changed = command === 'sync' ? { inserted: 0, updated: 1 } : { inserted: 6, updated: 0 }
      expect(await countsOf(scene)).toMatchObject({ fetched: 12, ...changed, duplicate: 6 })
      expect(await namesOf(scene, id)).toEqual(['Later'])
      const versions = await scene.rows`
        select customer_name from tracking.shipment_history where shipment_id = ${id}
        and valid_to is null`
      expect(versions).toEqual([{ customer_name: 'Later' }])
    },
  )
})
