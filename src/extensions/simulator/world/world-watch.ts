import type { ResourceObject } from '../../../source/jsonapi/document.js'
import type { Edits } from './edits.js'
import { createAgenda, type Agenda } from '../notifications/agenda.js'
import { editOccurrences } from '../notifications/edit-occurrences.js'
import type { NotificationMaker } from '../webhooks/notification-maker.js'
import type { World } from './world.js'

/** Watches the world, by time and by hand, and has notifications made of its occurrences. */
export interface WorldWatch {
  /**
   * Makes the notifications of everything until now. Costs as much as happened; the first time
   * after a while without an active webhook also about a millisecond per shipment, for the plans.
   * With a budget it plans only so long, and makes no notification before all is planned.
   */
  look(budgetMs?: number): void
}

export interface WatchParts {
  readonly world: World
  readonly edits: Edits
  /** Virtual epoch milliseconds. */
  readonly now: () => number
  /** False: no webhook would get a notification. */
  readonly isAnyActive: () => boolean
  readonly isToldOfEdits: boolean
  readonly maker: NotificationMaker
}

export function createWorldWatch(parts: WatchParts): WorldWatch {
  const { world, edits, now, isAnyActive, isToldOfEdits, maker } = parts
  const { ids } = world
  let agenda: Agenda | undefined
  let seenUntil = now()

  const look = (budgetMs = Number.POSITIVE_INFINITY): void => {
    if (!isAnyActive()) {
      agenda = undefined
      seenUntil = now()
      return
    }
    agenda ??= createAgenda(world.sources, seenUntil)
    if (!agenda.prepare(now(), budgetMs)) return
    for (const occurrence of agenda.advance(now())) maker.make(occurrence)
  }
  const wholeSecond = (): number => wholeSecondOf(now())

  let before: ResourceObject | undefined
  edits.watch({
    before: (target) => {
      before = undefined
      if (!isAnyActive()) return
      // Notifications of everything before the edit come first, with the records of then.
      look()
      if (target.kind === 'insert') return
      maker.fix(ids.decode(target.id)?.serial)
      if (target.kind !== 'change') return
      before = world.record(target.type, target.id, new Date(wholeSecond()))
    },
    after: (target) => {
      if (target.kind === 'insert' && agenda !== undefined) {
        for (const id of target.shipmentIds) agenda.addInserted(ids.decode(id)?.serial ?? 0)
      }
      if (!isToldOfEdits || !isAnyActive()) return
      for (const occurrence of editOccurrences(world, target, before, wholeSecond())) {
        maker.make(occurrence)
      }
    },
  })
  return { look }
}

/**
 * The instant of a notification made by hand: the service writes whole seconds, and none in the
 * future.
 */
export function wholeSecondOf(instant: number): number {
  return Math.floor(instant / 1000) * 1000
}
