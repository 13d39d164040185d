import { expect, it } from 'vitest'
import { retryQuarantined } from '../../../src/extensions/doctor/retry-quarantined.js'
import { withRunDependencies } from '../../support/test-service.js'
import type { Shown } from '../../support/scenes/answers.js'
import { openLoadedScene, type Scene } from './sync-scene.js'

const entriesOf = ({ rows }: Scene) =>
  rows<{ id: number; record_id: string | null }>`
    select quarantine_id as id, record_id from tracking_sync.quarantine order by 1`

it('flattens stored payloads that no id leads to', { tags: ['release'] }, async () => {
  const scene = await openLoadedScene({ shipments: 5 })
  const insert = (stream: string, type: string | null, id: string | null, payload: object) =>
    scene.value<number>`
      insert into tracking_sync.quarantine (stream, resource_type, record_id, reason, pointer,
        payload, payload_hash, source)
      values (${stream}, ${type}, ${id}, 'an older version could not', '',
        ${JSON.stringify(payload)}, ${stream}, '/list') returning quarantine_id`
  const [type, id] = ['webhook_event_category', 'mended']
  const attributes = { name: 'Mended', events: [] }
  await insert('webhook_event_categories', type, id, { type, id, attributes })
  const bad = await insert('shipments', null, null, { type: 'shipment' })
  expect(
    await withRunDependencies(scene, (dependencies) => retryQuarantined({}, dependencies)),
  ).toMatchObject({
    outcome: 'incomplete',
    exitCode: 6,
    requests: 0,
    remaining: [{ quarantineId: bad, why: 'id is missing or not a text' }],
  })
  expect(
    await scene.column`
      select name from tracking.webhook_event_categories
      where webhook_event_category_id = 'mended'`,
  ).toEqual(['Mended'])
  const left = await scene.rows`select quarantine_id as id, sightings from tracking_sync.quarantine`
  expect(left).toEqual([{ id: bad, sightings: 1 }])
})

it('what was set aside goes once its list came well', { tags: ['JD2', 'release'] }, async () => {
  const scene = await openLoadedScene({ shipments: 6 })
  const [never] = await scene.rows<{ id: number }>`
    insert into tracking_sync.quarantine (stream, resource_type, record_id, reason, pointer,
    payload, payload_hash, source, last_seen_at)
    values ('shipments', 'shipment', 'no row', 'it never was well', '', '{}', '{}', '/shipments',
    now() - interval '1 day')
    returning quarantine_id as id`
  const types = ['shipment', 'container', 'transport_event']
  const fault = scene.answers.play(/^\/shipments$/, {
    kind: 'transform',
    apply: (document) => {
      const { data, included, ...rest } = document as Record<string, Shown[]>
      const last = new Map([...data!, ...included!].map((one) => [one.type, one]))
      const broken = (one: Shown): unknown =>
        types.includes(one.type) && last.get(one.type) === one
          ? { ...one, attributes: 'gone' }
          : one
      return { ...rest, data: data!.map(broken), included: included!.map(broken) }
    },
  })
  const settings = { quarantineLimitPercent: 100, fullSyncHours: 24 }
  await scene.sync({ settings })
  expect(await entriesOf(scene)).toHaveLength(4)
  await scene.sync({ settings })
  expect(await entriesOf(scene)).toHaveLength(4)
  fault.remove()
  // It reads a part of the list.
  expect(await scene.sync({ command: 'sync', settings })).toMatchObject({ exitCode: 0 })
  expect(await entriesOf(scene)).toHaveLength(4)
  await scene.sync({ command: 'sync' })
  expect((await entriesOf(scene)).map(({ id }) => id)).toEqual([never!.id])
  expect(await scene.differences()).toEqual([])
})
