import type { App } from '../../../app.js'
import { ConfigError, MigrationError, WarehouseSchemaError } from '../../../base/errors.js'
import { countOf } from '../../../base/phrases.js'
import type { Warehouse } from '../../../warehouse/connection/warehouse.js'
import type { DistributionPlan } from '../distribute/plan-distribution.js'
import type { Answer } from '../../../commands/command-io.js'
import { declare, flag, value } from '../../../commands/declare-command.js'

export const distribute = declare({
  name: 'distribute',
  help:
    'Put a filled warehouse on the nodes of Citus, the account whole on one of them: in one ' +
    'transaction, so that a stop changes nothing. --undo brings it back.',
  takes: {
    by: value('--by <what>', 'schema: all rows of the account on one node.'),
    undo: flag('--undo', 'Bring all rows back to the database that commands connect to.'),
    dryRun: flag(
      '--dry-run',
      'Print the statements, the rows to move and the obstacles; change nothing.',
    ),
  },
  run: async (app, { by, undo, dryRun }, io) => {
    checkFlags(by, undo)
    const warehouse = await app.connect()
    await requireCurrent(warehouse)
    const { planDistribution, planReturn } = await import('../distribute/plan-distribution.js')
    const plan = await (undo ? planReturn : planDistribution)(warehouse)
    if (dryRun) return describePlan(plan)
    if (plan.refusals.length > 0) throw new WarehouseSchemaError(plan.refusals.join('\n'))
    if (plan.statements.length + plan.freeing.length > 0) {
      await carryOutAlone(app, warehouse, plan, io.process.stderr)
    }
    return describeOutcome(plan, undo, warehouse)
  },
})

function checkFlags(by: string | undefined, undo: boolean): void {
  const refuse = (problem: string): never => {
    throw new ConfigError([{ setting: '--by', problem }])
  }
  if (undo && by !== undefined) refuse('says how to distribute, and --undo brings back; use one')
  if (undo || by === 'schema') return
  if (by === undefined) refuse('is missing; `--by schema` keeps the account whole on one node')
  refuse(`is ${String(by)}; it must be schema`)
}

async function requireCurrent(warehouse: Warehouse): Promise<void> {
  const { readMigrations, readSchemaVersion } =
    await import('../../../warehouse/schema/run-migrations.js')
  const { version, expected } = await readSchemaVersion(warehouse, await readMigrations())
  if (version === expected) return
  throw new MigrationError(
    `the warehouse ${warehouse.names.data} is at version ${version} of ${expected}; ` +
      `run \`tracking-sync ${version === 0 ? 'backfill' : 'migrate'}\` first`,
  )
}

/** `serve` may run meanwhile: it stores deliveries, and applies them once the tables are free. */
async function carryOutAlone(
  app: App,
  warehouse: Warehouse,
  plan: DistributionPlan,
  stream: NodeJS.WritableStream,
): Promise<void> {
  const { carryOut } = await import('../distribute/distribute-warehouse.js')
  const { holdLease } = await import('../../../sync/hold-lease.js')
  const { logger, signal } = app
  await holdLease('distribute', { warehouse, logger, signal }, (held) =>
    carryOut(held.warehouse, plan, {
      signal: held.signal,
      onProgress: (statement, done, all) => {
        stream.write(`${done} of ${all}: ${statement}\n`)
      },
    }),
  )
}

const rowsOf = ({ tables }: DistributionPlan): number =>
  tables.reduce((sum, { rows }) => sum + rows, 0)

function describePlan(plan: DistributionPlan): Answer {
  const { tables, statements, freeing, nodes, refusals } = plan
  return {
    data: plan,
    text: [
      ...refusals.map((sentence) => `It would be refused: ${sentence}.`),
      ...(tables.length === 0
        ? []
        : [
            { columns: ['table', 'rows'], rows: tables.map(({ name, rows }) => [name, rows]) },
            `${countOf(rowsOf(plan), 'row')} of ${countOf(tables.length, 'table')} to move.`,
          ]),
      ...(nodes.length === 0 ? [] : [`Nodes that take tables: ${nodes.join(', ')}.`]),
      ...(statements.length === 0
        ? []
        : ['In one transaction:', ...statements.map((statement) => `  ${statement};`)]),
      ...(freeing.length === 0
        ? []
        : ['After it, one by one:', ...freeing.map((statement) => `  ${statement};`)]),
      ...(statements.length + freeing.length + refusals.length === 0
        ? ['There is nothing to do.']
        : []),
    ],
  }
}

async function describeOutcome(
  plan: DistributionPlan,
  isUndone: boolean,
  warehouse: Warehouse,
): Promise<Answer> {
  const moved = `${countOf(rowsOf(plan), 'row')} of ${countOf(plan.tables.length, 'table')}`
  if (isUndone) return { data: plan, text: [`${moved} brought back.`] }
  const { readCitusTables } = await import('../distribute/citus.js')
  const [first] = await readCitusTables(warehouse)
  return {
    data: plan,
    text: [
      `${moved} moved; ${warehouse.names.data} stands on ${first?.node ?? 'several nodes'}.`,
      'Go on with `tracking-sync check` and `tracking-sync sync`: commands connect as before.',
    ],
  }
}
