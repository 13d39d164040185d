import { describe, expect, test } from 'vitest'
import { decide, type Decision, type Known } from '../../../src/ingest/decide.js'
import { COMPLETE_WHEN_INCLUDED, readRecords, type Intake } from '../../../src/ingest/intake.js'
import type { StoredRow } from '../../../src/warehouse/rows/stored-rows.js'
import type { Mode } from '../../../src/warehouse/rows/incoming-rows.js'

const at = (second: number): Date => new Date(Date.UTC(2026, 2, 2, 8, 0, second))

interface Seen {
  readonly second?: number
  readonly name?: string
  readonly events?: readonly string[]
  /** Events that come included, of the container `c`. */
  readonly included?: readonly string[]
  readonly isDoubtful?: boolean
}

const event = (id: string): object => ({
  id,
  type: 'transport_event',
  attributes: { event: 'x' },
  relationships: { container: { data: { id: 'c', type: 'container' } } },
})

/** The container `c` as an answer brings it, or, included, a notification. */
function seen(
  mode: Mode,
  { second = 20, name = 'A', events, included = [], ...rest }: Seen,
): Intake {
  const container = {
    id: 'c',
    type: 'container',
    attributes: { number: name },
    relationships: events && {
      transport_events: { data: events.map((id) => ({ id, type: 'transport_event' })) },
    },
  }
  const isNotification = mode === 'webhook'
  return readRecords(
    {
      data: isNotification ? [] : [container],
      included: [...(isNotification ? [container] : []), ...included.map(event)],
    },
    {
      stream: 'containers',
      source: 'test',
      observedAt: at(second),
      ...(isNotification ? {} : { completeTypes: COMPLETE_WHEN_INCLUDED }),
      ...rest,
    },
  )
}

const [EQUAL] = seen('sync', { events: ['e1'] }).sightings.get('containers') ?? []

/**
 * The row of `c`, last seen at second 10 with event e1 and what `seen` says unless told otherwise.
 */
const row = (change: Partial<StoredRow> = {}): StoredRow => ({
  fingerprint: EQUAL?.fingerprint ?? null,
  observedAt: at(10),
  isDeleted: false,
  hasDigest: true,
  transportEventIds: ['e1'],
  ...change,
})

function known(stored: StoredRow | undefined, passBegan?: Date, events: string[] = []): Known {
  const containers = new Map(stored === undefined ? [] : [['c', stored]])
  const ofEvents = new Map(events.map((id) => [`c ${id}`, row({ transportEventIds: null })]))
  return {
    rows: new Map([
      ['containers', containers],
      ['transport_events', ofEvents],
    ]),
    passes: new Map(passBegan === undefined ? [] : [['containers', passBegan]]),
  }
}

/** The list of a decision that contains the container. */
function fateOf({ rounds, equal, doubtful, unconfirmed }: Decision): string {
  const isIn = (list: readonly { readonly key: string }[]): boolean =>
    list.some(({ key }) => key === 'c')
  if (rounds.some(({ sightings }) => isIn(sightings))) return 'written'
  if (isIn(equal)) return 'equal'
  if (isIn(doubtful)) return 'doubtful'
  return unconfirmed.some(({ type, id }) => type === 'container' && id === 'c')
    ? 'unconfirmed'
    : 'nothing'
}

const MODES = ['sync', 'backfill', 'refetch', 'webhook'] as const
const EVENTS = { events: ['e1'] }
const DEAD = row({ isDeleted: true })

describe('what becomes of a record', { tags: ['D9'] }, () => {
  test.each([
    // what was seen, the row, the fate in a sync, a backfill, a refetch and a notification
    ['without a row', EVENTS, undefined, 'written written written unconfirmed'],
    ['equal to its row', EVENTS, row(), 'equal written written written'],
    ['equal and older', { ...EVENTS, second: 5 }, row(), 'equal doubtful doubtful doubtful'],
    ['other and newer', { name: 'B' }, row(), 'written written written written'],
    ['other and as old', { name: 'B', second: 10 }, row(), 'written written written doubtful'],
    ['other and older', { name: 'B', second: 5 }, row(), 'doubtful doubtful doubtful doubtful'],
    ['of a dead row', EVENTS, DEAD, 'written written written unconfirmed'],
    ['of a dead row, older', { second: 5 }, DEAD, 'doubtful doubtful doubtful unconfirmed'],
    ['in doubt', { name: 'B', isDoubtful: true }, row(), 'written written written doubtful'],
  ] as const)('%s', { tags: ['D4', 'D6', 'D9'] }, (_, what, stored, fates) => {
    const found = MODES.map((mode) => fateOf(decide([seen(mode, what)], known(stored), mode)))
    expect(found.join(' ')).toBe(fates)
  })

  test('only runs copy what has no row; beside them it is written in the order of keys', () => {
    const copied = (mode: Mode, stored?: StoredRow): string[] =>
      [...decide([seen(mode, EVENTS)], known(stored), mode).withoutRow].map(({ key }) => key)
    expect(MODES.map((mode) => copied(mode))).toEqual([['c'], ['c'], [], []])
    expect(MODES.map((mode) => copied(mode, row({ isDeleted: true })))).toEqual([[], [], [], []])
  })

  test('a notification from before the last complete pass is in doubt', () => {
    const notified = [seen('webhook', { name: 'B', second: 20 })]
    expect(fateOf(decide(notified, known(row(), at(20)), 'webhook'))).toBe('doubtful')
    expect(fateOf(decide(notified, known(row(), at(19)), 'webhook'))).toBe('written')
  })
})

describe('the list of transport events of a container that is written', () => {
  test.each([
    // what was seen, stored events, then of an answer and of a notification: the list or what to do
    ['as stored', { events: ['e1'] }, ['e1'], 'nothing', 'nothing'],
    ['shorter', { events: [] }, ['e1'], '', ''],
    ['with another', { events: ['e1', 'e2'], included: ['e2'] }, ['e1'], 'e1 e2', 'e1 e2 e2'],
    ['with an unknown event', { events: ['e1', 'e9'] }, ['e1'], 'fetch', 'fetch'],
    ['absent', {}, ['e1'], 'fetch', 'nothing'],
    ['never stored', { events: ['e1'] }, null, 'fetch', 'fetch'],
  ] as const)('%s', (_, what, transportEventIds, ofAnswer, ofNotification) => {
    const found = (['sync', 'webhook'] as const).map((mode) => {
      const decision = decide(
        [seen(mode, { name: 'B', ...what })],
        known(row({ transportEventIds })),
        mode,
      )
      const [list] = decision.rounds.flatMap(({ eventLists }) => eventLists)
      if (list !== undefined) return list.transportEventIds.join(' ')
      return decision.fetchEvents.has('c') ? 'fetch' : 'nothing'
    })
    expect(found).toEqual([ofAnswer, ofNotification])
  })
})

test('of a record that comes twice in an answer the later one is written', { tags: ['P3'] }, () => {
  const twice = ['B', 'C'].flatMap((name) => [
    ...seen('sync', { name }).sightings.get('containers')!,
  ])
  const intake = { ...seen('sync', {}), sightings: new Map([['containers', twice]]) }
  for (const stored of [row(), undefined]) {
    const { rounds } = decide([intake], known(stored), 'sync')
    const written = rounds.map(({ sightings }) =>
      sightings.map(({ values }) => values.includes('C')),
    )
    expect(written).toEqual([[true]])
  }
})

describe('several notifications about one row', () => {
  const rounds = (...notified: readonly Seen[]): unknown =>
    decide(
      notified.map((one) => seen('webhook', one)),
      known(row()),
      'webhook',
    ).rounds.map(({ sightings }) => sightings.map(({ observedAt }) => observedAt.getUTCSeconds()))

  test('each leaves its version, one round after the other', () => {
    expect(rounds({ name: 'B', second: 20 }, { name: 'C', second: 21 })).toEqual([[20], [21]])
  })

  test('of equal ones in a row the first and the last are kept', () => {
    const equal = [20, 21, 22].map((second) => ({ name: 'B', second }))
    expect(rounds(...equal, { name: 'C', second: 23 })).toEqual([[20], [22], [23]])
  })

  test('of two different ones with one stamp the second is in doubt', { tags: ['D6'] }, () => {
    const notified = ['B', 'C'].map((name) => seen('webhook', { name }))
    const {
      rounds: [first],
      doubtful,
    } = decide(notified, known(row()), 'webhook')
    expect([first?.sightings, doubtful].map((list) => list?.[0]?.values.includes('B'))).toEqual([
      true,
      false,
    ])
  })
})
