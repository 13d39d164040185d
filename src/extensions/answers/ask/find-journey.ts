import { ConfigError } from '../../../base/errors.js'
import type { Warehouse } from '../../../warehouse/connection/warehouse.js'
import { findJourneys, type Journey } from '../questions/container-evidence.js'
import { explainUnknown } from './explain-answer.js'

/** The names that a caller gives to the two things that it was given. */
interface JourneyWords {
  readonly container: string
  readonly asOf: string
}

/**
 * The journey of a container, by its id or by a number that was on one journey only. Throws
 * ConfigError, with the ids or the nearest number.
 */
export async function findJourney(
  warehouse: Warehouse,
  given: string,
  asOf: string,
  words: JourneyWords,
): Promise<Journey> {
  const container = given.trim()
  const refuse = (problem: string) => new ConfigError([{ setting: words.container, problem }])
  const journeys = await findJourneys(warehouse, container, asOf)
  const [journey] = journeys
  if (journey === undefined) {
    const [unknown] = await explainUnknown(warehouse, { container })
    throw refuse(unknown ?? `was not known at ${asOf}; name a later ${words.asOf}`)
  }
  if (journeys.length > 1 && journey.containerId !== container) {
    throw refuse(askForId(container, journeys))
  }
  return journey
}

function askForId(number: string, journeys: readonly Journey[]): string {
  const lines = journeys.map(
    ({ containerId, billOfLading, dischargedAt }) =>
      `\n  ${containerId}  bill of lading ${billOfLading ?? 'not known'}, ` +
      `discharged ${dischargedAt?.slice(0, 10) ?? 'not yet'}`,
  )
  return `${number} was on ${journeys.length} journeys; name the id of one:${lines.join('')}`
}
