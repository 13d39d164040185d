import { unlessLate, within } from '../../base/in-time.js'
import type { StatusSection } from '../../status/describe-status.js'
import type { answerText } from '../../http/answer.js'
import { OVERVIEW_PANELS } from './panels/business-panels.js'
import * as about from './panels/container-panels.js'
import { compactNumber, findContainers } from '../answers/ask/find-numbers.js'
import type { NumberPage } from '../answers/number-page.js'
import { filtersIn, type Filters } from './filters.js'
import { AWAY, NOT_LAID_OUT, STILL_READ, type Light } from './light.js'
import { FIGURE_PANELS } from './panels/figure-panels.js'
import { OPERATIONS_PANELS } from './panels/operations-panels.js'
import { CHOICES, SEARCH } from './panels/search-panels.js'
import type * as Drawing from './page.js'
import type { Frame } from './page-frame.js'
import { addressOfContainer, asText } from './page-tables.js'
import type { Panel } from './panels/panels.js'
import { noSections, type Overview } from './read-overview.js'
import { stillRead, type AnsweredPanel, type PanelReader, type Wanted } from './read-panels.js'

/** An answer to a request for a page. */
export type Made = Partial<Pick<Parameters<typeof answerText>[1], 'text' | 'status' | 'headers'>>

/** The parts of pages; all clients share one read. */
export interface Sources {
  readonly title: string
  readonly hasLogo: boolean
  readonly pageOf: NumberPage | undefined
  readonly panels: PanelReader
  readonly areTablesThere: () => Promise<boolean>
  readonly overview: () => Promise<Overview>
  readonly sections: () => Promise<readonly StatusSection[]>
}

/** The page is sent after this time with the finished panels, because a reader waits. */
const ANSWER_MS = 300
/** A database that has not answered after this time is called away. */
const AWAY_MS = 2_000
/** The page asks again for answers older than this. */
const OLD_MS = 60_000
/** Seconds until a page with missing panels reloads. */
const REST_SECONDS = '3'

/** Panels that read the clocks of every container, the slowest last. */
const SLOW_PANELS = [
  'matters-now',
  'exceptions',
  'due-figures',
  'due',
  'last-free-days',
  'overdue-figures',
  'overdue',
  'charges',
]

const { overdue, due, arriving } = FIGURE_PANELS
const placeOf = (panel: Panel): number => SLOW_PANELS.indexOf(panel.id)
/** Their order is that of their turns: the first page has all that is quick. */
const OVERVIEW_IN_TURN = [CHOICES, overdue, due, arriving, ...OVERVIEW_PANELS].sort(
  (one, other) => placeOf(one) - placeOf(other),
)

/** Reads the parts of one page, until its time is over. */
interface Reading {
  readonly overview: Overview | undefined
  readonly light: Light
  readonly read: (panel: Panel, wanted?: Wanted) => Promise<AnsweredPanel>
  readonly inTime: <Result>(work: Promise<Result>) => Promise<Result | undefined>
  /** The first page of a process loads it, while the database reads. */
  readonly drawing: Promise<typeof Drawing>
}

/** A slow part shows a notice in its place, and the page reloads itself. */
async function whenLaidOut(
  sources: Sources,
  own: Omit<Frame, 'light' | 'title' | 'hasLogo'>,
  make: (reading: Reading, frame: Frame) => Promise<Made>,
): Promise<Made> {
  const { title, hasLogo, panels, areTablesThere } = sources
  const frame = { ...own, title, hasLogo }
  const until = performance.now() + ANSWER_MS
  const late = new Set<unknown>()
  const drawing = import('./page.js')
  const isLaidOut = await within(AWAY_MS, areTablesThere())
  if (isLaidOut === undefined) {
    const advice = 'Check that PostgreSQL runs and that DATABASE_URL is right.'
    const { formatNotice } = await drawing
    const text = formatNotice({ ...frame, light: AWAY }, advice)
    // A header, not the page: a page that reloads itself makes a reader lose the place.
    return { status: 503, headers: { refresh: '5' }, text }
  }
  if (!isLaidOut) {
    const advice = 'Run `tracking-sync migrate`, then `tracking-sync backfill`.'
    const { formatNotice } = await drawing
    return { text: formatNotice({ ...frame, light: NOT_LAID_OUT }, advice) }
  }
  const inTime: Reading['inTime'] = async (work) => {
    const result = await unlessLate(until - performance.now(), work)
    if (result === undefined) late.add(work)
    return result
  }
  const read: Reading['read'] = async (panel, wanted) => {
    const last = panels.last(panel, wanted)
    const left = until - performance.now()
    // Nobody waits for an answer that was late before.
    const wait = (last?.tookMs ?? 0) > left ? 0 : left
    const inTime = await unlessLate(wait, panels.read(panel, wanted))
    const age = last === undefined ? Infinity : Date.now() - last.readAt.getTime()
    if (inTime === undefined && age > OLD_MS) late.add(panel)
    return inTime ?? last ?? stillRead(panel)
  }
  const overview = inTime(sources.overview())
  const light = async (): Promise<Light> => (await overview)?.light ?? STILL_READ
  const made = await make(
    { overview: await overview, light: await light(), read, inTime, drawing },
    { ...frame, light: await light() },
  )
  const rest = late.size === 0 ? {} : { refresh: REST_SECONDS }
  return { ...made, headers: { ...rest, ...made.headers } }
}

export async function makeOverview(sources: Sources, parameters: URLSearchParams): Promise<Made> {
  const former = parameters.get('container')?.trim() ?? ''
  if (former !== '') return moved(`/containers?find=${encodeURIComponent(former)}`)
  const filters = filtersIn(parameters)
  return whenLaidOut(sources, { path: '/', filters }, async (reading, frame) => {
    const { read, overview, drawing } = reading
    const wanted = { filters }
    const asked = OVERVIEW_IN_TURN.map(async (panel) => [panel, await read(panel, wanted)] as const)
    const answers = new Map(await Promise.all(asked))
    const of = (panel: Panel): AnsweredPanel => answers.get(panel) ?? stillRead(panel)
    const figures = { overdue: of(overdue), due: of(due), arriving: of(arriving) }
    const panels = OVERVIEW_PANELS.map(of)
    const shown = overview?.hasRuns === false ? undefined : panels
    const { formatOverview } = await drawing
    const text = formatOverview(
      { ...frame, choices: of(CHOICES) },
      { panels: shown, figures, alerts: overview?.alerts ?? [], readAt: oldestOf(panels) },
    )
    return { text }
  })
}

/**
 * Reads the overview before anybody asks for it, and draws it after each panel: the first picture
 * of a kind takes a process half a second longer while the database reads.
 */
export async function makeAhead(sources: Sources): Promise<void> {
  const { panels, areTablesThere } = sources
  if (!(await areTablesThere())) return
  await makeOverview(sources, new URLSearchParams())
  for (const panel of OVERVIEW_IN_TURN) {
    await panels.read(panel)
    await makeOverview(sources, new URLSearchParams())
  }
}

export async function makeList(
  sources: Sources,
  panel: Panel,
  parameters: URLSearchParams,
): Promise<Made> {
  const filters = filtersIn(parameters, true)
  const shared: Filters = filtersIn(parameters)
  const start = { path: `/${panel.id}`, name: panel.title, filters: shared }
  return whenLaidOut(sources, start, async ({ read, drawing }, frame) => {
    const [choices, answered] = await Promise.all([read(CHOICES), read(panel, { filters })])
    const { formatListPage } = await drawing
    const page = Number(parameters.get('page') ?? '1')
    return {
      text: formatListPage(
        { ...frame, choices },
        {
          answered,
          filters,
          order: parameters.get('sort')?.slice(0, 50),
          page: Number.isSafeInteger(page) ? page : 1,
        },
      ),
    }
  })
}

export async function makeOperations(sources: Sources): Promise<Made> {
  const start = { path: '/operations', name: 'Operations', filters: {} }
  return whenLaidOut(sources, start, async ({ read, overview, inTime, drawing }, frame) => {
    const [sections, ...panels] = await Promise.all([
      inTime(sources.sections()),
      ...OPERATIONS_PANELS.map((panel) => read(panel)),
    ])
    const { formatOperations } = await drawing
    const text = formatOperations(frame, {
      alerts: overview?.alerts ?? [],
      panels: overview?.hasRuns === false ? [] : panels,
      sections: sections ?? [noSections('Still being read.')],
      readAt: oldestOf(panels),
    })
    return { text }
  })
}

/** The list of the containers that match, or the page of the only one. */
export async function makeFound(sources: Sources, parameters: URLSearchParams): Promise<Made> {
  const wanted = cleanText(parameters.get('find') ?? '')
  if (wanted === '') return moved('/')
  const start = { path: '/containers', name: 'Search', filters: {}, sought: wanted }
  return whenLaidOut(sources, start, async ({ read, drawing }, frame) => {
    const found = await read(SEARCH, { subject: wanted, statement: findContainers(wanted) })
    const rows = found.answer?.rows ?? []
    const [first] = rows
    const isOneNumber = rows.every((row) => row[1] === first?.[1])
    if (first !== undefined && isOneNumber) {
      return moved(addressOfContainer(asText(first[1]), asText(first[0])))
    }
    const isNone = found.answer !== undefined && first === undefined
    const { formatFound } = await drawing
    return { ...(isNone ? { status: 404 } : {}), text: formatFound(frame, wanted, found) }
  })
}

/** The container of an address: `/containers/<number>`, or the journey of the id in its query. */
export async function makeContainer(sources: Sources, address: URL): Promise<Made> {
  const wanted = textOfPath(address.pathname)
  const ofContainer = import('./container-page.js')
  const start = { path: address.pathname, name: wanted, filters: {}, sought: wanted }
  return whenLaidOut(sources, start, async ({ read }, frame) => {
    const found = await read(SEARCH, { subject: wanted, statement: findContainers(wanted) })
    const all = found.answer?.rows ?? []
    // Another container may have this number as its reference.
    const own = all.filter(([id, number]) => id === wanted || number === compactNumber(wanted))
    const rows = own.length > 0 ? own : all
    const asked = address.searchParams.get('id')
    const [row = rows[0]] = rows.filter(([id]) => id === asked)
    if (found.answer !== undefined && row === undefined) {
      const { formatUnknown } = await ofContainer
      return { status: 404, text: formatUnknown(frame, wanted) }
    }
    const others = rows.filter(([, number]) => number !== row?.[1])
    if (others.length > 0 && asked === null) {
      return moved(`/containers?find=${encodeURIComponent(wanted)}`)
    }
    const id = asText(row?.[0])
    const of = (panel: Panel): Promise<AnsweredPanel> =>
      found.answer === undefined
        ? Promise.resolve({ ...found, panel })
        : read(panel, { subject: id })
    const [journey, stops, journeys, stays, costs, matters, evidence, moves, timeline] =
      await Promise.all([
        of(about.JOURNEY),
        of(about.STOPS),
        of(about.JOURNEYS),
        of(about.STAYS),
        of(about.COSTS),
        of(about.MATTERS),
        of(about.EVIDENCE),
        of(about.MOVES),
        of(about.TIMELINE),
      ])
    const parts = { journey, stops, journeys, stays, costs, matters, evidence, moves, timeline }
    const name = asText(row?.[1]) || wanted
    const { formatContainerPage } = await ofContainer
    const text = formatContainerPage(
      { ...frame, name, sought: '' },
      { id, ...parts, page: sources.pageOf?.(row?.[1]), readAt: oldestOf(Object.values(parts)) },
    )
    return { text }
  })
}

function textOfPath(path: string): string {
  const last = path.slice(path.lastIndexOf('/') + 1)
  try {
    return cleanText(decodeURIComponent(last))
  } catch {
    return cleanText(last)
  }
}

function cleanText(text: string): string {
  return text.replaceAll('\0', '').slice(0, 100).trim()
}

function moved(location: string): Made {
  return { status: 303, headers: { location } }
}

/** The time that a page shows: the oldest read of its panels. */
function oldestOf(panels: readonly AnsweredPanel[]): string {
  const oldest = Math.min(Date.now(), ...panels.map(({ readAt }) => readAt.getTime()))
  return `${new Date(oldest).toISOString().slice(0, 16).replace('T', ' ')} UTC`
}
