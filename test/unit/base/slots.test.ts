import { describe, expect, it } from 'vitest'
import { nextSlots } from '../../../src/base/slots.js'

const MINUTE = 60_000
const HOUR = 60 * MINUTE
const DAY = 24 * HOUR

/** A change of a zone's clock: its instant, and the clock just before and from then on. */
interface Change {
  readonly zone: string
  readonly at: number
  readonly before: string
  readonly after: string
}

function clockReader(zone: string): (instant: number) => string {
  const format = new Intl.DateTimeFormat('sv', {
    timeZone: zone,
    dateStyle: 'short',
    timeStyle: 'short',
  })
  return (instant) => format.format(instant)
}

const toMs = (clock: string): number => Date.parse(`${clock.replace(' ', 'T')}Z`)

/** Found by looking at the zone's clock each day and halving, without the offsets of the code. */
function changesOf(zone: string, from: number, to: number): Change[] {
  const clock = clockReader(zone)
  const offset = (instant: number): number => toMs(clock(instant)) - instant
  const changes: Change[] = []
  for (let day = from; day < to; day += DAY) {
    if (offset(day) === offset(day + DAY)) continue
    let [low, high] = [day, day + DAY]
    while (high - low > MINUTE) {
      const middle = low + Math.round((high - low) / 2 / MINUTE) * MINUTE
      if (offset(middle) === offset(low)) low = middle
      else high = middle
    }
    changes.push({ zone, at: high, before: clock(high - MINUTE), after: clock(high) })
  }
  return changes
}

const cronAt = (clock: string): string =>
  `${String(Number(clock.slice(14, 16)))} ${String(Number(clock.slice(11, 13)))} * * *`

/**
 * Changes of one kind, one zone for each that happens at the same instant between the same clocks.
 */
const CHANGES = [
  ...new Map(
    Intl.supportedValuesOf('timeZone')
      .flatMap((zone) => changesOf(zone, Date.UTC(2026, 0, 1), Date.UTC(2028, 0, 1)))
      .map((change) => [`${String(change.at)} ${change.before} ${change.after}`, change]),
  ).values(),
]
const isForward = ({ before, after }: Change): boolean => toMs(after) - toMs(before) > MINUTE
const FORWARD = CHANGES.filter(isForward)
const BACKWARD = CHANGES.filter((change) => !isForward(change))

describe('slots at every change of a clock in 2026 and 2027', { tags: ['JB8', 'Z11'] }, () => {
  it('are looked at in both directions, Havana, Cairo, Beirut and Lord Howe among them', () => {
    expect(BACKWARD.length).toBeGreaterThan(20)
    expect(FORWARD.map(({ zone }) => zone)).toEqual(
      expect.arrayContaining([
        ...['Africa/Cairo', 'America/Havana', 'Asia/Beirut', 'Australia/Lord_Howe'],
      ]),
    )
  })

  it('run at the end of the gap where their clock time does not exist', () => {
    for (const { zone, at, before } of FORWARD) {
      const firstSkipped = new Date(toMs(before) + MINUTE).toISOString().replace('T', ' ')
      const lastSkipped = new Date(toMs(before) + 20 * MINUTE).toISOString().replace('T', ' ')
      for (const skipped of [firstSkipped, lastSkipped]) {
        const slots = nextSlots(cronAt(skipped), zone, at - 12 * HOUR, 2)
        expect([zone, skipped, slots[0]]).toEqual([zone, skipped, at])
        expect((slots[1] ?? 0) - at).toBeGreaterThanOrEqual(22 * HOUR)
      }
    }
  })

  it('run once a day where their clock time comes twice', () => {
    for (const { zone, at, after } of BACKWARD) {
      const clock = clockReader(zone)
      const slots = nextSlots(cronAt(after), zone, at - 12 * HOUR, 2)
      expect([zone, slots.map(clock)[0]]).toEqual([zone, after])
      expect(slots[0]).toBeLessThan(at)
      expect((slots[1] ?? 0) - (slots[0] ?? 0)).toBeGreaterThanOrEqual(24 * HOUR)
    }
  })

  it('never pause where the expression names every hour', () => {
    for (const { zone, at } of CHANGES) {
      const slots = nextSlots('*/15 * * * *', zone, at - 3 * HOUR - 1, 24)
      const clock = clockReader(zone)
      const expected: number[] = []
      for (let instant = at - 3 * HOUR; expected.length < 24; instant += MINUTE) {
        if (Number(clock(instant).slice(14, 16)) % 15 === 0) expected.push(instant)
      }
      expect([zone, slots]).toEqual([zone, expected])
    }
  })
})

describe('slots', () => {
  const first = (expression: string, zone: string, after: string): string | undefined => {
    const [slot] = nextSlots(expression, zone, Date.parse(after), 1)
    return slot === undefined ? undefined : new Date(slot).toISOString()
  }

  it('come after an instant, not at it', () => {
    expect(first('0 8 * * *', 'UTC', '2026-03-08T08:00:00Z')).toBe('2026-03-09T08:00:00.000Z')
    expect(first('30 0 8 * * *', 'UTC', '2026-03-08T08:00:00Z')).toBe('2026-03-08T08:00:30.000Z')
  })

  it('are found years away', () => {
    expect(first('0 0 29 2 *', 'UTC', '2026-03-08T00:00:00Z')).toBe('2028-02-29T00:00:00.000Z')
    expect(first('0 0 29 2 *', 'UTC', '2096-03-01T00:00:00Z')).toBe('2104-02-29T00:00:00.000Z')
  })
})
