import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { EXCEPTION_ALERTS, chosenAlerts } from '../../../src/extensions/alerts/alert-names.js'
import { openAlertScene, type AlertScene } from './alert-scene.js'

let scene: AlertScene
beforeEach(async () => {
  scene = await openAlertScene()
  await scene.run`
    insert into tracking.shipments
        (shipment_id, bill_of_lading_number, line_tracking_stopped_reason, line_tracking_stopped_at,
            _observed_at, _first_seen_at, _changed_at, _fingerprint)
    values ('s1', 'BOL 1', 'no news', '2026-11-01Z', now(), now(), now(), '')`
})
afterEach(() => scene.close())

/** A container whose tracking has stopped, which is an exception until it is tracked again. */
async function stop(...ids: readonly string[]): Promise<void> {
  await scene.run`
    insert into tracking.containers
        (container_id, number, shipment_id, _observed_at, _first_seen_at, _changed_at,
        _fingerprint)
    select id, 'NUM ' || id, 's1', now(), now(), now(), '' from unnest(${ids}::text[]) as id`
}

const forget = (id: string) =>
  scene.run`update tracking.containers set _deleted_at = now() where container_id = ${id}`

const digests = () => scene.received().filter((title) => title.startsWith('digest'))

describe('the digest', () => {
  it('comes once a day and tells of each exception once', { tags: ['A4', 'release'] }, async () => {
    await stop('c1', 'c2')
    await scene.look('2026-11-24T06:59:59Z')
    expect(digests()).toEqual([])
    await scene.look('2026-11-24T07:00:00Z')
    await scene.look('2026-11-24T07:01:00Z')
    expect(digests()).toEqual(['digest Exceptions of 2026-11-24: 2 new, 0 over, 2 open'])
    await stop('c3')
    await forget('c1')
    // Reading the view takes long: after a run, and once for the digest.
    await scene.look('2026-11-24T07:02:00Z')
    expect(await scene.rows`select from tracking_sync.alerts`).toHaveLength(2)
    await scene.look('2026-11-24T23:59:59Z', { isAfterRun: true })
    await scene.look('2026-11-25T00:00:00Z')
    await scene.look('2026-11-25T06:59:00Z', { isAfterRun: true })
    expect(digests()).toHaveLength(1)
    await scene.look('2026-11-25T07:00:00Z')
    await scene.look('2026-11-25T23:00:00Z', { isAfterRun: true })
    expect(digests().slice(1)).toEqual(['digest Exceptions of 2026-11-25: 1 new, 1 over, 2 open'])
    // A day without news has a digest that nobody is sent.
    await scene.look('2026-11-26T09:00:00Z')
    expect(digests()).toHaveLength(2)
    const days = await scene.rows`
      select digest_on, opened, closed, open from tracking_sync.alert_digests order by 1`
    expect(days.map((row) => Object.values(row).join(' '))).toEqual([
      '2026-11-24 2 0 2',
      '2026-11-25 1 1 2',
      '2026-11-26 0 0 2',
    ])
    const told = await scene.rows`
      select alert_key, opening_digest_on, closing_digest_on from tracking_sync.alerts
      where kind = 'exceptions' order by alert_id`
    expect(told.map((row) => Object.values(row))).toEqual([
      ['tracking_stopped:c1', '2026-11-24', '2026-11-25'],
      ['tracking_stopped:c2', '2026-11-24', null],
      ['tracking_stopped:c3', '2026-11-25', null],
    ])
  })

  it('says what and where, in lines and as data', { tags: ['release'] }, async () => {
    const page = 'https://service.example/find?q='
    const pageOf = (number: unknown) => `${page}${String(number)}`
    scene.settings = { ...scene.settings, pageOf }
    await stop('c1')
    await forget('c1')
    await stop(...Array.from({ length: 17 }, (_, at) => `d${at + 10}`))
    await scene.look('2026-11-24T08:00:00Z')
    const { lines, digest } = JSON.parse(scene.receiver.deliveries[0]!.body.toString()) as {
      lines: string[]
      digest: { opened_exceptions: object[] }
    }
    expect(lines).toHaveLength(17)
    expect(lines[0]).toBe(
      `NUM d10 (BOL 1), tracking stopped: the service stopped asking the line: no news ${page}NUM d10`,
    )
    expect(lines.filter((line) => line.includes(page))).toHaveLength(15)
    expect(lines.slice(15)).toEqual([
      'and 2 more new exceptions',
      'All that are open: tracking-sync query attention',
    ])
    expect(digest.opened_exceptions).toHaveLength(17)
    expect({ ...digest, opened_exceptions: digest.opened_exceptions.slice(0, 1) }).toMatchSnapshot()
  })

  it('is made once by several processes at once', { tags: ['A4'] }, async () => {
    await stop('c1')
    await Promise.all(Array.from({ length: 4 }, () => scene.look('2026-11-24T08:00:00Z')))
    await scene.look('2026-11-24T08:01:00Z')
    expect(digests()).toEqual(['digest Exceptions of 2026-11-24: 1 new, 0 over, 1 open'])
  })

  it('has its day in the zone of the settings', { tags: ['release'] }, async () => {
    await stop('c1')
    const { settings } = scene
    scene.settings = { ...settings, names: chosenAlerts('all,-tracking_stopped') }
    await scene.look('2026-11-23T08:00:00Z')
    scene.settings = { ...settings, names: chosenAlerts('operations') }
    await scene.look('2026-11-24T08:00:00Z')
    expect(digests()).toEqual([])
    expect(await scene.rows`select digest_on from tracking_sync.alert_digests`).toEqual([
      { digest_on: '2026-11-23' },
    ])
    scene.settings = { ...settings, timeZone: 'Asia/Tokyo' }
    await scene.look('2026-11-24T21:59:00Z')
    await scene.look('2026-11-24T22:00:00Z')
    expect(digests()).toEqual(['digest Exceptions of 2026-11-25: 1 new, 0 over, 1 open'])
  })

  it('knows every exception of the view', async () => {
    const [row] = await scene.rows`
      select string_agg(definition, '') as text from pg_views
      where schemaname = 'tracking_parts' and viewname like '%_exceptions'`
    const found = [...String(row!.text).matchAll(/'(\w+)'::text AS exception/g)]
    expect(new Set(found.map(([, name]) => name))).toEqual(new Set(EXCEPTION_ALERTS))
  })
})
