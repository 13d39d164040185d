import pLimit from 'p-limit'
import { keepFor } from '../../base/in-time.js'
import { ConnectorError, WarehouseUnavailableError } from '../../base/errors.js'
import { showText } from '../../base/phrases.js'
import { withSchemaNames } from '../../warehouse/connection/schema-names.js'
import { areViewsStored } from '../answers/store-views.js'
import { readTable, type TableAnswer } from '../answers/read-answer.js'
import { rawStatement, type Statement } from '../../warehouse/connection/typed-database.js'
import type { Warehouse } from '../../warehouse/connection/warehouse.js'
import { narrow, type Filters } from './filters.js'
import type { Panel } from './panels/panels.js'
import { joinPanels, partAnswer } from './share-rows.js'

/** A panel with the answer of its SQL, or the reason why it failed. */
export interface AnsweredPanel {
  readonly panel: Panel
  readonly answer: TableAnswer | undefined
  /** One sentence; undefined with an answer. */
  readonly problem: string | undefined
  readonly readAt: Date
  /** The duration of the reading, without the wait for its turn; that of all who share it. */
  readonly tookMs: number
  /** It is still being read. */
  readonly isLate?: true
}

/** The rows of a panel that are wanted. */
export interface Wanted {
  readonly filters?: Filters
  /** The value of `$1`, in panels about one container. */
  readonly subject?: string
  /** Asked in place of the SQL of the panel, for its subject. */
  readonly statement?: Statement<unknown>
}

export interface PanelReader {
  /** The answer of a panel, kept for all clients who want the same. */
  read(panel: Panel, wanted?: Wanted): Promise<AnsweredPanel>
  /** Its last answer, however old. */
  last(panel: Panel, wanted?: Wanted): AnsweredPanel | undefined
}

/** Each uses a connection, and the database has few. */
const AT_ONCE = 3
/** Most readers that wait for a connection; more are turned away. A page has a dozen panels. */
const MOST_WAITING = 40
/** Readers within this time share one read of a panel, as page and as CSV. */
const KEPT_MS = 15_000
/** A slow answer is kept for so many times of its reading: a panel costs a tenth of a processor. */
const KEPT_TIMES = 10
/** Answers that are kept for clients who want some rows only. */
const MOST_KEPT = 60

/** One statement, for a panel or for all that share rows with it. */
interface Reading extends Pick<Wanted, 'subject' | 'statement'> {
  readonly panels: readonly Panel[]
  readonly sqlText: string
  readonly parameters: readonly string[]
}

interface Kept {
  readonly read: () => Promise<readonly AnsweredPanel[]>
  last: readonly AnsweredPanel[] | undefined
}

/**
 * Reads the rows of panels with the reader's role, a few at a time for the whole process. A panel
 * that fails or is slow shows that and does not affect the others, except for those of `shown` that
 * share its rows.
 */
export function createPanelReader(warehouse: Warehouse, shown: readonly Panel[]): PanelReader {
  const limit = pLimit(AT_ONCE)
  const whole = new Map<string, Kept>()
  const narrowed = new Map<string, Kept>()

  function readingOf(panel: Panel, { filters = {}, ...wanted }: Wanted): Reading {
    const sharing = shown.filter(({ rows }) => rows !== undefined && rows === panel.rows)
    const panels = sharing.length > 1 && sharing.includes(panel) ? sharing : [panel]
    const sqlText = panels.length === 1 ? panel.sqlText : joinPanels(panels)
    return { ...wanted, panels, ...narrow(sqlText, filters) }
  }

  function keep(reading: Reading): Kept {
    const kept: Kept = {
      read: keepFor(KEPT_MS, async () => {
        if (kept.last?.every(isKept) === true) return kept.last
        kept.last = await limit(() => readPanels(warehouse, reading))
        return kept.last
      }),
      last: undefined,
    }
    return kept
  }

  return {
    read: async (panel, wanted = {}) => {
      const reading = readingOf(panel, wanted)
      const { subject, parameters } = reading
      const isWhole = parameters.length === 0 && subject === undefined
      const key = keyOf(reading)
      let kept = (isWhole ? whole : narrowed).get(key)
      if (kept === undefined) {
        if (!isWhole && limit.pendingCount >= MOST_WAITING) {
          return failed(panel, 'Too many requests at once. Try again in a moment.')
        }
        kept = keep(reading)
        if (isWhole) whole.set(key, kept)
        else makeRoom(narrowed).set(key, kept)
      }
      return answerOf(panel, await kept.read())
    },
    last: (panel, wanted = {}) => {
      const key = keyOf(readingOf(panel, wanted))
      const last = (whole.get(key) ?? narrowed.get(key))?.last
      return last && answerOf(panel, last)
    },
  }
}

export function isKept({ readAt, tookMs }: Pick<AnsweredPanel, 'readAt' | 'tookMs'>): boolean {
  return Date.now() - readAt.getTime() < KEPT_TIMES * tookMs
}

function keyOf({ panels, sqlText, parameters, subject }: Reading): string {
  return JSON.stringify([panels.map(({ id }) => id), sqlText, parameters, subject])
}

function answerOf(panel: Panel, answers: readonly AnsweredPanel[]): AnsweredPanel {
  const own = answers.find((answered) => answered.panel === panel)
  return own ?? failed(panel, 'It was not read.')
}

function makeRoom(kept: Map<string, Kept>): Map<string, Kept> {
  const [oldest] = kept.keys()
  if (kept.size >= MOST_KEPT && oldest !== undefined) kept.delete(oldest)
  return kept
}

async function readPanels(
  warehouse: Warehouse,
  { panels, sqlText, parameters, subject, statement }: Reading,
): Promise<AnsweredPanel[]> {
  const began = performance.now()
  const now = () => ({ readAt: new Date(), tookMs: performance.now() - began })
  try {
    const values = subject === undefined ? parameters : [subject]
    const answer =
      statement === undefined
        ? await askAsReader(warehouse, sqlText, values)
        : await readAsReader(warehouse, statement)
    const answers = panels.length === 1 ? [answer] : partAnswer(answer)
    return panels.map((panel, at) => ({
      panel,
      answer: answers[at],
      problem: undefined,
      ...now(),
    }))
  } catch (thrown) {
    if (!(thrown instanceof ConnectorError)) throw thrown
    return panels.map((panel) => ({ ...failed(panel, explain(thrown)), ...now() }))
  }
}

function failed(panel: Panel, problem: string): AnsweredPanel {
  return { panel, answer: undefined, problem, readAt: new Date(), tookMs: 0 }
}

/** Replaces a panel that is not read in time. */
export function stillRead(panel: Panel): AnsweredPanel {
  const problem = 'Still being read. This page asks again in a moment.'
  return { ...failed(panel, problem), isLate: true }
}

export async function askAsReader(
  warehouse: Warehouse,
  sqlText: string,
  parameters: readonly string[] = [],
): Promise<TableAnswer> {
  return readAsReader(warehouse, rawStatement(await sqlFor(warehouse, sqlText), parameters))
}

function readAsReader(warehouse: Warehouse, statement: Statement<unknown>): Promise<TableAnswer> {
  return readTable(warehouse, 'read a panel of the dashboard', statement, { isAsReader: true })
}

/** The statement for this warehouse: it reads the views themselves if none are stored. */
export async function sqlFor(warehouse: Warehouse, sqlText: string): Promise<string> {
  const views = [...sqlText.matchAll(/\{\{stored\}\}\.(\w+)/g)].map(([, view = '']) => view)
  const areStored = views.length === 0 || (await areViewsStored(warehouse, views))
  const read = areStored ? sqlText : sqlText.replaceAll('{{stored}}', '{{analytics}}')
  return withSchemaNames(read, warehouse.names)
}

const TOO_SLOW = '57014'

/** The reason why a question of the page failed, in one sentence. */
export function explain(error: ConnectorError): string {
  if (error.context.code === TOO_SLOW) {
    return 'The answer took too long. Ask for it with `tracking-sync query` and a longer --timeout.'
  }
  if (error instanceof WarehouseUnavailableError) return 'The database does not answer.'
  const { cause, message } = error
  return `The question failed: ${showText(cause instanceof Error ? cause.message : message, 200)}`
}
