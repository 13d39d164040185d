import pLimit from 'p-limit'
import { ConnectorError, WarehouseUnavailableError } from '../base/errors.js'
import { showText } from '../base/phrases.js'
import { withSchemaNames } from '../warehouse/connection/schema-names.js'
import type { TableAnswer } from '../warehouse/connection/read-answer.js'
import type { Warehouse } from '../warehouse/connection/warehouse.js'
import type { Panel } from './panels.js'

/** A panel with what its SQL answered, or why it did not. */
export interface AnsweredPanel {
  readonly panel: Panel
  readonly answer: TableAnswer | undefined
  /** One sentence; undefined where there is an answer. */
  readonly problem: string | undefined
}

/** Each takes a connection of its own. */
const AT_ONCE = 3

/**
 * Asks for the rows of each panel, as the reader's role. One that fails leaves the others. Throws
 * WarehouseUnavailableError where the database is away.
 */
export async function readPanels(
  warehouse: Warehouse,
  panels: readonly Panel[],
): Promise<AnsweredPanel[]> {
  const limit = pLimit(AT_ONCE)
  return Promise.all(panels.map((panel) => limit(() => readPanel(warehouse, panel))))
}

/** The same for one; `parameters` where its SQL has `$1`. */
export async function readPanel(
  warehouse: Warehouse,
  panel: Panel,
  parameters: readonly string[] = [],
): Promise<AnsweredPanel> {
  try {
    const answer = await askAsReader(warehouse, panel.sqlText, parameters)
    return { panel, answer, problem: undefined }
  } catch (thrown) {
    if (!(thrown instanceof ConnectorError)) throw thrown
    if (thrown instanceof WarehouseUnavailableError) throw thrown
    return { panel, answer: undefined, problem: explain(thrown) }
  }
}

export function askAsReader(
  warehouse: Warehouse,
  sqlText: string,
  parameters: readonly string[] = [],
): Promise<TableAnswer> {
  return warehouse.readTable(
    'read a panel of the dashboard',
    withSchemaNames(sqlText, warehouse.names),
    { parameters, isAsReader: true },
  )
}

const TOO_SLOW = '57014'

function explain({ cause, context, message }: ConnectorError): string {
  if (context.code === TOO_SLOW) {
    return 'The answer took too long. Ask for it with `tracking-sync query` and a longer --timeout.'
  }
  return `The question failed: ${showText(cause instanceof Error ? cause.message : message, 200)}`
}
