import type { RawPage } from '../source/client/list-pages.js'
import type { RawRecord, RawRecords } from '../source/jsonapi/raw-record.js'
import {
  hasRead,
  IntakeBuilder,
  shownKeys,
  streamOf,
  type Intake,
  type IntakeOptions,
} from './intake.js'

/** Pages of a list include whole containers and events; other included records may be partial. */
export const COMPLETE_WHEN_INCLUDED: ReadonlySet<string> = new Set(['container', 'transport_event'])

/** Facts about the records of a page that they do not say themselves. */
export function pageOptions(
  stream: string,
  { observedAt }: Pick<RawPage, 'observedAt'>,
): IntakeOptions {
  return { stream, source: `/${stream}`, observedAt, completeTypes: COMPLETE_WHEN_INCLUDED }
}

/** A few milliseconds of work. */
const PARSED_AT_ONCE = 100

/**
 * Parses and flattens the records of a page, without those in `recognized`, whose keys are known.
 * Pure. Lets other work run in between.
 */
export async function readPage(
  records: RawRecords,
  options: IntakeOptions,
  recognized: ReadonlyMap<RawRecord, string>,
): Promise<Intake> {
  const intake = new IntakeBuilder(options)
  let count = 0
  for (const [list, isPrimary] of [
    [records.included, false],
    [records.primary, true],
  ] as const) {
    for (const record of list) {
      const key = recognized.get(record)
      if (key === undefined) {
        intake.addRaw(record, isPrimary)
        count += 1
        if (count % PARSED_AT_ONCE === 0) await letOthersRun()
      } else intake.addRecognized(record, key)
    }
  }
  if (recognized.size === 0) return intake
  const isRead = hasRead(intake)
  const isAlone = ([record, key]: [RawRecord, string]): boolean => !isRead(streamOf(record), key)
  const alone = [...recognized].filter(isAlone)
  // The order of several sightings of one row decides, so all of them are read.
  return alone.length === recognized.size ? intake : readPage(records, options, new Map(alone))
}

/** A receiver in the same process answers from the same thread. */
function letOthersRun(): Promise<void> {
  return new Promise((resolve) => {
    setImmediate(resolve)
  })
}

/** True when every shipment of the page lists its containers and all of them came included. */
export function hasAllContainers({ rows }: RawPage, intake: Intake): boolean {
  const included = new Set(shownKeys(intake, 'containers'))
  return rows.every(
    ({ id }) => intake.containerIds.get(String(id))?.every((key) => included.has(key)) === true,
  )
}

/** True when every container lists its transport events and all of them came included. */
export function hasAllTransportEvents(intake: Intake): boolean {
  const included = new Set(shownKeys(intake, 'transport_events'))
  return shownKeys(intake, 'containers').every((key) => {
    const listed = intake.transportEventIds.get(key)
    return listed?.every((id) => included.has(`${key} ${id}`)) === true
  })
}
