import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import { roomsList } from '../../scripts/documents/pages.js'
import { REFETCH_TRANSITIONS } from '../../src/warehouse/bookkeeping/refetch-queue.js'
import { NOTIFICATION_EVENTS } from '../../src/webhooks/receive/notification-states.js'
import { ROOMS } from './rooms.js'

const ROOT = fileURLToPath(new URL('../..', import.meta.url))
const page = readFileSync(`${ROOT}/docs/architecture.md`, 'utf8')
const drawings = [...page.matchAll(/```mermaid\n([\s\S]*?)\n```/g)].map(([, text]) => text!)

describe('docs/architecture.md', () => {
  it('lists the rooms that the layer test enforces', () => {
    const [, list] = /<!-- rooms -->\n([\s\S]*)\n<!-- \/rooms -->/.exec(page)!
    expect(list, 'copy the received list into the page').toBe(roomsList(ROOMS))
  })

  it('draws only arrows that the layer test allows', () => {
    const [rooms] = drawings
    const arrows = [...rooms!.matchAll(/^ {4}(.+) --> (.+)$/gm)].flatMap(([, from, to]) =>
      from!.split(' & ').flatMap((one) => to!.split(' & ').map((other) => [one, other] as const)),
    )
    expect(arrows.length).toBeGreaterThan(10)
    // A directory of several rooms is drawn as one.
    const partsOf = (name: string): string[] =>
      Object.keys(ROOMS).filter((room) => room === name || room.startsWith(`${name}/`))
    const forbidden = arrows.filter(([from, to]) => {
      const may = partsOf(from).flatMap((room) => ROOMS[room]?.may ?? [])
      const names = ['*', to, ...partsOf(to)]
      return partsOf(to).length === 0 || !names.some((name) => may.includes(name))
    })
    expect(forbidden).toEqual([])
  })

  it('draws the transitions that the two tables have', () => {
    const transitions = Object.entries(NOTIFICATION_EVENTS)
      .filter(([event]) => event !== 'replayed')
      .flatMap(([event, { from, to }]) => from.map((state) => `${state} --> ${to}: ${event}`))
    expect(drawn(drawings[3]!).sort()).toEqual(transitions.sort())
    expect(drawn(drawings[4]!).sort()).toEqual(listed(REFETCH_TRANSITIONS))
  })
})

/** `from --> to: event`, one for each event; those in brackets only take time. */
function drawn(drawing: string): string[] {
  return [...drawing.matchAll(/^ {4}(\S+) --> (\S+): (.+)$/gm)].flatMap(([, from, to, events]) =>
    events!
      .split(', ')
      .filter((event) => !event.startsWith('('))
      .map((event) => `${named(from!)} --> ${named(to!)}: ${event}`),
  )
}

function named(state: string): string {
  return state === '[*]' ? 'absent' : state === 'reading' ? 'being read' : state
}

function listed(table: Readonly<Record<string, Readonly<Record<string, string>>>>): string[] {
  return Object.entries(table)
    .flatMap(([from, events]) =>
      Object.entries(events).map(([event, to]) => `${from} --> ${to}: ${event}`),
    )
    .sort()
}
