import { expect, it } from 'vitest'
import { asCalendar } from '../../../../src/extensions/answers/output/print-calendar.js'
import { asPieces } from '../../../../src/extensions/answers/output/print-answer.js'
import { readCalendar } from '../../../support/read-calendar.js'

const STAY = {
  container_number: 'MSKU0000001',
  place: 'port',
  place_locode: 'USTIW',
  pod_terminal: 'Husky',
  state: 'upcoming',
  binding_on: '2026-03-01',
  binding_source: 'terminal',
  customer_name: 'Müller, Söhne; Co\\',
  bill_of_lading_number: 'MAEU1',
  container_id: 'one',
}

async function write(
  stays: readonly Partial<Record<keyof typeof STAY, string | null>>[],
): Promise<{ text: string; notes: string[] }> {
  const notes: string[] = []
  const columns = Object.keys(STAY) as (keyof typeof STAY)[]
  const rows = stays.map((stay) => columns.map((name) => ({ ...STAY, ...stay })[name]))
  const note = (one: string): unknown => notes.push(one)
  let text = ''
  for await (const chunk of asCalendar(asPieces({ columns, types: [], rows }), { note })) {
    text += chunk
  }
  return { text, notes }
}

it('has an event of a whole day for a stay, with its place and what is known', async () => {
  const before = Date.now() - 1_000
  const [event] = readCalendar((await write([STAY])).text)
  expect(event).toMatchObject({
    UID: 'one-port@tracking-sync',
    'DTSTART;VALUE=DATE': '20260301',
    SUMMARY: 'Last free day: MSKU0000001, port, Husky',
    DESCRIPTION:
      'Source: terminal\nState: upcoming\nBill of lading: MAEU1\nCustomer: Müller, Söhne; Co\\',
    TRANSP: 'TRANSPARENT',
  })
  const stamp = event!.DTSTAMP!.replace(/^(....)(..)(..)T(..)(..)(..)Z$/, '$1-$2-$3T$4:$5:$6Z')
  expect(Date.parse(stamp)).toBeGreaterThan(before)
})

it('has none for stays that are over, unknown, or without a last free day', async () => {
  const states = ['not_started', 'upcoming', 'due_today', 'overdue']
  const none = ['none', 'out_in_time', 'out_late', 'unknown']
  const { text, notes } = await write([
    ...[...none, ...states].map((state) => ({ state, container_id: state })),
    { container_id: 'no day', binding_on: null },
  ])
  expect(readCalendar(text).map(({ UID }) => UID)).toEqual(
    states.map((state) => `${state}-port@tracking-sync`),
  )
  expect(notes).toEqual(['4 events of 9 rows: stays that have a last free day and are not over'])
})

it('leaves out a day that no calendar has, and says so', { tags: ['JB2'] }, async () => {
  const days = ['infinity', '-infinity', '0044-03-15 BC', '12026-01-01', '0001-01-01', '9999-12-31']
  const { text, notes } = await write(
    days.map((binding_on) => ({ binding_on, container_id: binding_on })),
  )
  expect(readCalendar(text).map((event) => event['DTSTART;VALUE=DATE'])).toEqual([
    '00010101',
    '99991231',
  ])
  expect(notes.at(-1)).toBe(
    'left 4 events out: a calendar has no infinite day, and none before Christ or after 9999',
  )
})

it('names the ramp by its code, and folds and escapes what is long and hostile', async () => {
  const customer_name = `${'Ü🚢'.repeat(60)}\r\nATTENDEE:x\u0007`
  const ramp = { place: 'ramp', place_locode: 'USCHI', container_number: null, customer_name }
  const [event] = readCalendar((await write([ramp])).text)
  expect(event!.SUMMARY).toBe('Last free day: one, ramp, USCHI')
  expect(event!.DESCRIPTION!.split('\n').at(-1)).toBe(
    `Customer: ${'Ü🚢'.repeat(60)}\\r\\nATTENDEE:x\\u0007`,
  )
  expect(event).not.toHaveProperty('ATTENDEE')
})
