import { afterEach, describe, expect, it } from 'vitest'
import { retryQuarantined } from '../../../src/extensions/doctor/retry-quarantined.js'
import type { QuarantineSelection } from '../../../src/extensions/doctor/load-quarantine.js'
import { withRunDependencies } from '../../support/test-service.js'
import type { Shown } from '../../support/scenes/answers.js'
import { closeScenes, openLoadedScene, openScene, type Scene } from './sync-scene.js'

afterEach(closeScenes)

/** The first so many shipments of the list lose what a row needs. */
const breakShipments = ({ answers }: Scene, count: number) =>
  answers.show('/shipments', (records) =>
    records.map((record, at) => (at < count ? { ...record, attributes: 'gone' } : record)),
  )

const retry = (scene: Scene, selection: QuarantineSelection) =>
  withRunDependencies(scene, (dependencies) => retryQuarantined(selection, dependencies))

const entriesOf = ({ rows }: Scene) =>
  rows<{ id: number; record_id: string | null }>`
    select quarantine_id as id, record_id from tracking_sync.quarantine order by 1`

describe('retrying what was set aside', () => {
  it('flattens the stored payload that no id leads to', { tags: ['release'] }, async () => {
    const scene = await openLoadedScene({ shipments: 5 })
    const payload = {
      type: 'webhook_event_category',
      id: 'mended',
      attributes: { name: 'Mended', events: [] },
    }
    const insert = `insert into tracking_sync.quarantine (stream, resource_type, record_id, reason, pointer, payload, payload_hash, source)
      values ('webhook_event_categories', $1, $2, 'an older version could not', '', $3, $2, '/webhooks/events') returning quarantine_id`
    await scene.query(insert, payload.type, payload.id, JSON.stringify(payload))
    expect(await retry(scene, {})).toMatchObject({ exitCode: 0, requests: 0, remaining: [] })
    expect(
      await scene.column`
        select name from tracking.webhook_event_categories
        where webhook_event_category_id = 'mended'`,
    ).toEqual(['Mended'])
  })

  it('keeps what cannot land, says why, ends with exit code 6 and counts nothing twice', async () => {
    const scene = await openScene({ shipments: 10 })
    breakShipments(scene, 2)
    await scene.sync({ settings: { quarantineLimitPercent: 100 } })
    const [first, second] = await entriesOf(scene)
    scene.simulator.edits.delete('shipment', first!.record_id!)
    const insert = `insert into tracking_sync.quarantine (stream, reason, pointer, payload, payload_hash, source)
      values ('shipments', 'id is missing', '/id', '{"type":"shipment"}', 'h', '/shipments') returning quarantine_id as id`
    const [third] = await scene.query<{ id: number }>(insert)
    const report = await retry(scene, {})
    expect(report).toMatchObject({ outcome: 'incomplete', exitCode: 6, landed: [second!.id] })
    expect(
      Object.fromEntries(report.remaining.map(({ quarantineId, why }) => [quarantineId, why])),
    ).toEqual({
      [first!.id]: 'the service does not have it any more',
      [third!.id]: 'id is missing or not a text',
    })
    expect(await entriesOf(scene)).toHaveLength(2)
    expect(await scene.column`select max(sightings) as most from tracking_sync.quarantine`).toEqual(
      [1],
    )
  })
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
