import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { exitCodeOf } from '../../../src/base/exit-code.js'
import { silentLogger } from '../../../src/base/logger.js'
import { defaultRetryPolicy } from '../../../src/base/retry.js'
import type { RunReport } from '../../../src/sync/run-sync.js'
import { retryQuarantined } from '../../../src/extensions/doctor/retry-quarantined.js'
import { verifySource } from '../../../src/extensions/doctor/verify/verify-warehouse.js'
import { queueRefetches } from '../../../src/warehouse/bookkeeping/refetch-queue.js'
import { reconcile } from '../../../src/webhooks/manage/reconcile.js'
import type { TestSyncOptions } from '../../support/run-test-sync.js'
import { withRunDependencies, withTestService } from '../../support/test-service.js'
import { HTTP_FAULTS, type HttpFault } from '../faults/http-faults.js'
import { statesOf } from '../webhooks/process-scene.js'
import { closeScenes, openScene, type Scene } from './sync-scene.js'

/*
 * Every place that reads a record of the service × every answer that may come there, for as long as
 * it lasts; faults/fault-table.ts has lists. Reads by the same code count as one place:
 *
 *   one record by id         containers of the queue; shipments and tracking requests go the same
 *                            way, and so does the worker of `serve` (`readRefetch`)
 *   one place                ports of the queue (`readRefetches`)
 *   one list of events       of a pass; of the queue and in checks, too (`fetchOfContainer`)
 *   one list of one record   raw events; options of a custom field, too (`readOwnLists`)
 *   one absence              of a tracking request, and of a custom field, which lacks a read by id
 *   one command              `verify`
 */

/** With a good one; in an order that shows at most two outages to a few records in a row. */
const NAMES = [
  'refused (403)',
  '500 for good',
  'doubled headers',
  'not found (404)',
  '503 for good',
  'gone (410)',
  'garbage',
  'another record',
] as const satisfies readonly HttpFault[]

type Answer = (typeof NAMES)[number]

const UNREADABLE: readonly Answer[] = [
  'refused (403)',
  '500 for good',
  '503 for good',
  'garbage',
  'another record',
]
const GONE: readonly Answer[] = ['not found (404)', 'gone (410)']

/** One try more. */
const CLIENT = { retryPolicy: { ...defaultRetryPolicy, retries: 1 } }

type Settings = Partial<NonNullable<TestSyncOptions['settings']>>

let scene: Scene

async function run(settings: Settings = {}): Promise<RunReport> {
  return scene.sync({
    command: 'sync',
    settings: { fullSyncHours: 0, transportEventChecksPerSync: 0, ...settings },
    client: CLIENT,
  })
}

/** Makes resting entries due; the service has not changed. */
async function letADayPass(): Promise<void> {
  await scene.run`update tracking_sync.refetch_queue set not_before = null`
  await scene.run`update tracking_sync.absences set not_before = null`
}

const column = async (sqlText: string, ...parameters: unknown[]): Promise<string[]> => {
  const rows = await scene.query<Record<string, string>>(sqlText, ...parameters)
  return rows.map((row) => String(Object.values(row)[0])).sort()
}

const queued = (type: string, ids: readonly string[]): Promise<string[]> =>
  column(
    `select resource_id from tracking_sync.refetch_queue
    where resource_type = $1 and resource_id = any($2::text[])`,
    type,
    ids,
  )

const live = (table: string, key: string): Promise<string[]> =>
  column(`select ${key} from tracking.${table} where _deleted_at is null order by 1`)

const ask = (type: string, ids: readonly string[]): Promise<void> =>
  scene.warehouse.transaction('ask', (session) =>
    queueRefetches(
      session,
      ids.map((id) => ({ type, id })),
      'in doubt',
    ),
  )

interface RecordPlace {
  readonly name: string
  readonly ids: () => Promise<string[]>
  /** The next run reads these records. */
  readonly prepare: (ids: readonly string[]) => Promise<unknown>
  readonly path: (id: string) => string
  readonly settings?: Settings
  /** The records still to be read. */
  readonly open: (ids: readonly string[]) => Promise<string[]>
  /** These answers leave a record to be read. */
  readonly rests: readonly Answer[]
  /** Of the first and of the next run while it lasts; 0 unless given. */
  readonly exitCodes?: readonly [number, number]
}

/** Paths of what the custom fields belong to. */
const owners = new Map<string, string>()

const eventsOf = (id: string): string => `/containers/${id}/transport_events`

const PLACES: readonly RecordPlace[] = [
  {
    name: 'a container of the queue',
    ids: () => live('containers', 'container_id'),
    prepare: (ids) => ask('container', ids),
    path: (id) => `/containers/${id}`,
    open: (ids) => queued('container', ids),
    rests: UNREADABLE,
  },
  {
    name: 'a port of the queue',
    ids: () => live('ports', 'port_id'),
    prepare: (ids) => ask('port', ids),
    path: (id) => `/ports/${id}`,
    open: (ids) => queued('port', ids),
    // Its row stays: it is read again within a week.
    rests: UNREADABLE.filter((answer) => answer !== 'refused (403)'),
  },
  {
    name: 'the transport events of a container of a page',
    ids: () => live('containers', 'container_id'),
    prepare: (ids) =>
      scene.rows`
        update tracking.containers
        set _digest = null, _fingerprint = '', transport_event_ids = null
        where container_id = any(${ids}::text[])`,
    path: eventsOf,
    open: (ids) => queued('transport_events', ids),
    rests: UNREADABLE.filter((answer) => answer !== 'another record'),
  },
  {
    name: 'the raw events of a container',
    ids: () => live('containers', 'container_id'),
    prepare: () => scene.rows`delete from tracking_sync.raw_event_reads`,
    path: (id) => `/containers/${id}/raw_events`,
    settings: { rawEvents: true },
    open: (ids) =>
      column(
        `select id from unnest($1::text[]) as asked (id)
        where id not in (select container_id from tracking_sync.raw_event_reads)`,
        ids,
      ),
    rests: [...UNREADABLE.filter((answer) => answer !== 'another record'), ...GONE],
  },
  {
    name: 'a tracking request that is in no page',
    ids: () => live('tracking_requests', 'tracking_request_id'),
    prepare: async (ids) => {
      for (const id of ids) scene.simulator.edits.delete('tracking_request', id)
      await run()
    },
    path: (id) => `/tracking_requests/${id}`,
    open: (ids) =>
      column(`select row_key from tracking_sync.absences where row_key = any($1::text[])`, ids),
    // It is gone, so that it cannot be another either.
    rests: UNREADABLE.filter((answer) => answer !== 'another record'),
    exitCodes: [6, 0],
  },
  {
    name: 'a custom field that is in no page',
    ids: () =>
      column(
        `select min(custom_field_id) from tracking.custom_fields where _deleted_at is null
        group by entity_id`,
      ),
    prepare: async (ids) => {
      for (const field of await scene.rows<Record<string, string>>`
        select custom_field_id, entity_type, entity_id, api_slug from tracking.custom_fields
        where custom_field_id = any(${ids}::text[])`) {
        const { custom_field_id: id = '', entity_type: type, entity_id: owner = '' } = field
        scene.simulator.edits.setCustomField(owner, field.api_slug ?? '', undefined)
        owners.set(id, `/${type}s/${owner}`)
      }
      await run()
    },
    path: (id) => `${owners.get(id)}/custom_fields`,
    open: (ids) =>
      column(`select row_key from tracking_sync.absences where row_key = any($1::text[])`, ids),
    // Of some it is the only one.
    rests: UNREADABLE.filter((answer) => answer !== 'another record'),
    exitCodes: [6, 0],
  },
]

/** Exit code of a command by answer, where it fails. */
type Ends = Readonly<Partial<Record<Answer, number>>>

const NEEDED: Ends = {
  'refused (403)': 3,
  'not found (404)': 2,
  'gone (410)': 2,
  '500 for good': 4,
  '503 for good': 4,
  garbage: 4,
}

beforeAll(async () => {
  scene = await openScene({
    shipments: 14,
    acceptedIncludes: { shipment: ['containers', 'pod_terminal'], container: [] },
  })
  await scene.sync({ settings: { rawEvents: true } })
})

afterEach(() => {
  scene.simulator.faults.clear()
})
afterAll(closeScenes)

function chunks<Item>(items: readonly Item[], size: number): Item[][] {
  const count = Math.ceil(items.length / size)
  return Array.from({ length: count }, (_, at) => items.slice(at * size, (at + 1) * size))
}

describe('one bad record costs itself', { tags: ['FG2', 'JD2', 'JC10'] }, () => {
  const costsItself = async ({
    ids,
    prepare,
    path,
    settings,
    open,
    rests,
    exitCodes,
  }: RecordPlace): Promise<void> => {
    const { faults } = scene.simulator
    const most = Math.min(6, (await ids()).length)
    for (const answers of chunks(NAMES, most)) {
      const some = (await ids()).slice(0, most)
      await prepare(some)
      const asked = answers.map((answer, at) => ({ answer, id: some[at] ?? '' }))
      const played = asked.map(({ answer, id }) =>
        faults.add({
          fault: HTTP_FAULTS[answer],
          match: (request) => request.path === path(id),
          times: Infinity,
        }),
      )
      const still = asked.filter(({ answer }) => rests.includes(answer)).map(({ id }) => id)
      for (const exitCode of exitCodes ?? [0, 0]) {
        const report = await run(settings)
        expect({ answers, ...report }).toMatchObject({ answers, exitCode })
        expect({ answers, open: await open(some) }).toEqual({ answers, open: still.sort() })
        await letADayPass()
      }
      expect(played.filter((one) => one.played === 0)).toEqual([])
      faults.clear()
      expect(await run(settings)).toMatchObject({ exitCode: 0, problems: [] })
      expect(await open(some)).toEqual([])
    }
    expect(await scene.differences()).toEqual([])
  }

  // Every run of the tests has one absence; a release has the other places.
  const isOfEveryRun = ({ name }: RecordPlace): boolean => name.startsWith('a tracking request')
  it.each(PLACES.filter(isOfEveryRun))('$name', costsItself)
  it.each(PLACES.filter((place) => !isOfEveryRun(place)))(
    '$name',
    { tags: ['release'] },
    costsItself,
  )

  it('verify names it and compares the rest', { tags: ['release'] }, async () => {
    const { faults } = scene.simulator
    const ids = await live('containers', 'container_id')
    for (const [at, answer] of UNREADABLE.entries()) {
      // Several in a row would look like an outage.
      const match = { path: `/containers/${ids[2 * at]}` }
      faults.add({ fault: HTTP_FAULTS[answer], match, times: Infinity })
    }
    const report = await withRunDependencies(scene, (dependencies) =>
      verifySource({ ...dependencies, sample: 30, seed: 1 }),
    )
    expect(report).toMatchObject({ isEqual: true })
    expect(report.notCompared.join()).toContain(`; and so ${UNREADABLE.length - 1} more`)
    expect(report.streams.find(({ stream }) => stream === 'containers')?.compared).toBe(ids.length)
  })
})

describe('beside the runs one bad record costs itself', { tags: ['JD2'] }, () => {
  /** No more than two that look like an outage together. */
  const answers = NAMES.filter((answer) => answer !== '503 for good')

  it('quarantine retry', async () => {
    const ids = (await live('containers', 'container_id')).slice(0, answers.length)
    await scene.run`
      insert into tracking_sync.quarantine
      (stream, resource_type, record_id, reason, pointer, payload, payload_hash, source)
      select 'containers', 'container', id, 'bad', '', '{}', id, '/containers'
      from unnest(${ids}::text[]) as id`
    for (const [at, answer] of answers.entries()) {
      scene.answers.play(`/containers/${ids[at]}`, HTTP_FAULTS[answer])
    }
    const left = (): Promise<string[]> =>
      column(`select record_id from tracking_sync.quarantine where payload_hash = record_id`)
    const retry = () =>
      withRunDependencies(scene, (dependencies) => retryQuarantined({}, dependencies))
    for (let time = 0; time < 2; time += 1) {
      expect(await retry()).toMatchObject({ exitCode: 6 })
      expect(await left()).toEqual(ids.filter((_, at) => answers[at] !== 'doubled headers'))
    }
    scene.simulator.faults.clear()
    scene.answers.play(/^\/containers\/[^/]+$/, HTTP_FAULTS['500 for good'])
    scene.simulator.requests.reset()
    expect(await retry()).toMatchObject({ exitCode: 6 })
    // Several in a row look like an outage: six tries each, and then the run asks for none of the
    // others.
    expect(scene.simulator.requests.total).toBe(3 * 6)
    scene.simulator.faults.clear()
    expect(await retry()).toMatchObject({ exitCode: 0, remaining: [] })
    expect(await left()).toEqual([])
    expect(await scene.differences()).toEqual([])
  })

  it.each([
    ['/webhooks', NEEDED],
    ['/webhooks/events', {}],
    ['/webhook_notifications', NEEDED],
  ] as const)('webhooks reconcile, at %s', async (path, ends) => {
    const { faults } = scene.simulator
    const id = `failed at ${path}`
    const data = { id, type: 'webhook_notification', attributes: { event: 'container.updated' } }
    const failed = { data: [data], links: {}, meta: { total: 1 } }
    for (const answer of answers) {
      scene.answers.play('/webhook_notifications', { kind: 'transform', apply: () => failed })
      scene.answers.play(path, HTTP_FAULTS[answer])
      const exitCode = (ends as Ends)[answer] ?? 0
      const end = await withTestService(scene.simulator, (service) =>
        reconcile({
          service,
          warehouse: scene.warehouse,
          logger: silentLogger,
          signal: new AbortController().signal,
          settings: {
            url: 'https://x.example',
            ids: [],
            events: ['all'],
            pageSize: 5,
          },
        }),
      ).then(
        ({ failed: found }) => ({ exitCode: 0, found }),
        (thrown: unknown) => ({ exitCode: exitCodeOf(thrown), found: 1 }),
      )
      expect({ answer, ...end }).toEqual({ answer, exitCode, found: 1 })
      faults.clear()
    }
    expect(Object.keys(await statesOf(scene.warehouse))).toContain(id)
  })
})

describe('several in a row that look like an outage', { tags: ['JD2'] }, () => {
  it('stop the transport events, and end one run with 4', { tags: ['release'] }, async () => {
    const { faults, requests } = scene.simulator
    const ids = await live('containers', 'container_id')
    await PLACES.find(({ name }) => name.endsWith('of a page'))!.prepare(ids)
    scene.answers.play(/transport_events$/, HTTP_FAULTS['500 for good'])
    requests.reset()
    const report = await run()
    // Four at a time, two tries each, and three that fail in a row.
    expect(requests.recent.filter(({ status }) => status === 500).length).toBeLessThan(2 * (3 + 4))
    expect(report).toMatchObject({ exitCode: 4, problems: [expect.stringMatching(/^transport/)] })
    expect(await queued('transport_events', ids)).toEqual(ids)
    requests.reset()
    // They rest.
    expect(await run()).toMatchObject({ exitCode: 0, problems: [] })
    expect(requests.recent.filter(({ status }) => status === 500)).toEqual([])
    faults.clear()
    await letADayPass()
    expect(await run()).toMatchObject({ exitCode: 0 })
    expect(await queued('transport_events', ids)).toEqual([])
    expect(await scene.differences()).toEqual([])
  })
})
