import { countOf, showText } from '../../base/phrases.js'
import type { NumberPage } from '../answers/number-page.js'

export type MessageEvent = 'opened' | 'closed' | 'digest' | 'test'

/** Contents of a message, before it takes the form of its channel. Kept in `alert_messages`. */
export interface MessageContent {
  readonly title: string
  /** Lines for people. Texts of the source in them cannot break a line. */
  readonly lines: readonly string[]
  /** Data that the signed webhook carries beside them. */
  readonly data: Readonly<Record<string, unknown>>
}

/** One message through one channel; equal at each attempt except for `sentAt`. */
export interface Message {
  readonly id: string
  readonly event: MessageEvent
  readonly createdAt: string
  readonly content: MessageContent
  /** Schema of the warehouse it is about. */
  readonly warehouse: string
}

/** The outcome of a message at its receiver. */
export type Delivery =
  | { readonly outcome: 'sent'; readonly note?: string }
  /** It certainly did not arrive, or was refused: it may be sent again. */
  | { readonly outcome: 'refused'; readonly reason: string }
  /** It may have arrived: it must not be sent again. */
  | { readonly outcome: 'in_doubt'; readonly reason: string }

/** Footer of each message, so that two can be told apart. */
export function footerOf({ id, warehouse }: Message): string {
  return `tracking-sync, schema ${warehouse}, message ${id}`
}

/** A stored alert of this program. */
export interface OperationRow {
  readonly alertId: number
  readonly name: string
  readonly sentence: string
  readonly openedAt: string
  readonly closedAt: string | null
}

/** `calm`: the present state after the end of the alert; undefined for a new alert. */
export function describeOperation(row: OperationRow, calm?: string): MessageContent {
  const { alertId, name, sentence, openedAt, closedAt } = row
  const alert = { id: alertId, name, sentence, opened_at: openedAt, closed_at: closedAt }
  const was = sentence.split('\n').map((line) => showText(line))
  if (calm === undefined) return { title: `Alert: ${name}`, lines: was, data: { alert } }
  return {
    title: `Over: ${name}`,
    lines: [`now: ${showText(calm)}`, ...was.map((line) => `was: ${line}`)],
    data: { alert: { ...alert, now: calm } },
  }
}

/** One exception in a digest. */
export interface DigestRow {
  readonly name: string
  readonly severity: string
  readonly sentence: string
  readonly openedAt: string
  readonly closedAt: string | null
  readonly details: {
    readonly container_id: string
    readonly container_number: string | null
    readonly bill_of_lading_number: string | null
  }
}

export interface Digest {
  /** A local day. */
  readonly day: string
  readonly opened: number
  readonly closed: number
  readonly open: number
  /** Gravest first; at most some hundred of each. */
  readonly openedRows: readonly DigestRow[]
  readonly closedRows: readonly DigestRow[]
}

/** Further rows are only counted; the warehouse has them all. */
const ROWS_SHOWN = 15

/** A line of a new exception ends with the page of its container. */
export function describeDigest(digest: Digest, pageOf?: NumberPage): MessageContent {
  const { day, opened, closed, open, openedRows, closedRows } = digest
  return {
    title: `Exceptions of ${day}: ${opened} new, ${closed} over, ${open} open`,
    lines: [
      ...openedRows.slice(0, ROWS_SHOWN).map((row) => withPage(describeRow(row), row, pageOf)),
      ...restOf(opened, 'new exception'),
      ...closedRows.slice(0, ROWS_SHOWN).map((row) => `over: ${describeRow(row)}`),
      ...restOf(closed, 'exception', ' over'),
      'All that are open: tracking-sync query attention',
    ],
    data: {
      digest: {
        day,
        opened,
        closed,
        open,
        opened_exceptions: openedRows.map((row) => toData(row, pageOf)),
        closed_exceptions: closedRows.map((row) => toData(row, pageOf)),
      },
    },
  }
}

function restOf(count: number, noun: string, ending = ''): string[] {
  const rest = count - ROWS_SHOWN
  return rest > 0 ? [`and ${countOf(rest, `more ${noun}`)}${ending}`] : []
}

function describeRow({ name, sentence, details }: DigestRow): string {
  const { container_id, container_number, bill_of_lading_number } = details
  const bill = bill_of_lading_number === null ? '' : ` (${bill_of_lading_number})`
  const box = `${container_number ?? container_id}${bill}`
  return showText(`${box}, ${name.replaceAll('_', ' ')}: ${sentence}`)
}

function withPage(line: string, { details }: DigestRow, pageOf?: NumberPage): string {
  const page = pageOf?.(details.container_number)
  return page === undefined ? line : `${line} ${page}`
}

function toData(row: DigestRow, pageOf?: NumberPage) {
  const { name, severity, sentence, openedAt, closedAt, details } = row
  return {
    exception: name,
    severity,
    sentence,
    opened_at: openedAt,
    closed_at: closedAt,
    ...details,
    page: pageOf?.(details.container_number),
  }
}

export function testContent(): MessageContent {
  return {
    title: 'Test of alerts',
    lines: ['Alerts of tracking-sync arrive here. Nothing is wrong.'],
    data: {},
  }
}

/** Whole lines of at most `most` characters, and the number of lines left out. */
export function fitLines(lines: readonly string[], most: number): string {
  const kept: string[] = []
  let length = 0
  for (const line of lines) {
    const short = line.length > MOST_OF_LINE ? `${line.slice(0, MOST_OF_LINE)}…` : line
    length += short.length + 1
    if (length > most - ROOM_FOR_REST) break
    kept.push(short)
  }
  const rest = lines.length - kept.length
  return [...kept, ...(rest > 0 ? [`… ${rest} more lines`] : [])].join('\n')
}

const MOST_OF_LINE = 500
const ROOM_FOR_REST = 30
