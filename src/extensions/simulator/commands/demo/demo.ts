import type { App } from '../../../../app.js'
import { ConfigError } from '../../../../base/errors.js'
import { EXIT_CODES } from '../../../../base/exit-code.js'
import type { Simulator } from '../../server.js'
import type { RunReport } from '../../../../sync/run-sync.js'
import type { Warehouse } from '../../../../warehouse/connection/warehouse.js'
import { countOf } from '../../../../base/phrases.js'
import type { CommandIo } from '../../../../commands/command-io.js'
import { declare, value, wholeNumber } from '../../../../commands/declare-command.js'
import { printAnswer } from '../../../answers/output/print-answer.js'
import type { Part } from '../../../../commands/output/print-table.js'
import { describeProblem, runSettingsOf } from '../../../../commands/sync.js'

/** The demo drops and makes its own schema each time: real data are never in it. */
const DEMO_SCHEMA = 'tracking_demo'
const DEMO = { schema: DEMO_SCHEMA, isEmbedded: true }
/** A few minutes. */
const MOST_SHIPMENTS = 10_000
const STEP_MS = 3 * 24 * 60 * 60 * 1000
/** A record withdrawn after the first load is missed by two passes, and then marked. */
const STEPS = [
  'Three days pass at sea and in port. sync: only what differs is written',
  'Three more days pass. sync: what was missing twice counts as withdrawn',
] as const
const SHOWN_ROWS = 8
/** People read the demo even from a file. */
const USUAL_WIDTH = 80
/** The simulator needs no limit. */
const NO_LIMIT = 100_000
const QUESTIONS = ['pickups', 'costs', 'arrivals'] as const

export const demo = declare({
  name: 'demo',
  isForAccount: false,
  help:
    'Show everything on this machine: embedded database, simulator, backfill, six days passing, ' +
    'syncs, three answers. Needs no key, server or configuration.',
  json: false,
  takes: {
    shipments: value(
      '--shipments <count>',
      'Shipments of the account.',
      wholeNumber(1, MOST_SHIPMENTS),
      300,
    ),
  },
  // Log lines would hide the steps that it prints.
  flags: { logLevel: 'error' },
  run: async (app, { shipments }, io) => {
    const step = startSteps(io)
    step(`Starting the embedded PostgreSQL of ${app.config.home} …`)
    const { runDemoAlone } = await import('./demo-schemas.js')
    const warehouse = await app.connect({ ...DEMO, poolSize: 1 })
    return runDemoAlone(warehouse, () => runDemo(app, io, shipments, step))
  },
})

type Step = (text: string) => void

/** Prints each step and the time since the start. */
function startSteps(io: CommandIo): Step {
  const startedAt = performance.now()
  return (text) => {
    const seconds = ((performance.now() - startedAt) / 1000).toFixed(1)
    io.print('', `[${seconds.padStart(4)} s] ${text}`)
  }
}

async function runDemo(app: App, io: CommandIo, shipments: number, step: Step): Promise<number> {
  step('Creating the tables')
  const warehouse = await openDemoWarehouse(app)
  const { startSimulator } = await import('../../server.js')
  const simulator = await startSimulator({
    shipments,
    // The demo moves the clock forward day by day and ends now: no row lies in the future.
    startAt: new Date(Date.now() - STEPS.length * STEP_MS),
    speed: 0,
    rateLimitPerMinute: null,
  })
  app.onClose(() => simulator.close())
  step(`The simulator answers at ${simulator.url} with ${countOf(shipments, 'shipment')}`)
  const { importExamples, leaveReportsOut, letThingsGoWrong } = await import('./demo-scene.js')
  leaveReportsOut(simulator)
  step('backfill: the one-off first load')
  const backfill = await run('backfill', app, io, warehouse, simulator)
  if (backfill.exitCode !== EXIT_CODES.complete) return giveUp(app, io, backfill)
  for (const [sync, passes] of STEPS.entries()) {
    const said = sync === 0 ? letThingsGoWrong(simulator) : []
    simulator.clock.advance(STEP_MS)
    step(passes)
    if (said.length > 0) io.print(...said.map((sentence) => `- ${sentence}`))
    const report = await run('sync', app, io, warehouse, simulator)
    if (report.exitCode !== EXIT_CODES.complete) return giveUp(app, io, report)
  }
  step(`rules import, invoices import: ${(await importExamples(warehouse)).join(', ')}`)
  step('Three questions to the warehouse')
  await answerQuestions(warehouse, io)
  const { nextSteps } = await import('./next-steps.js')
  io.print('', 'What to try next:', '', ...(await nextSteps(io, app.config.home, DEMO_SCHEMA)))
  return EXIT_CODES.complete
}

async function openDemoWarehouse(app: App): Promise<Warehouse> {
  const { dropDemoSchemas, markDemoSchemas } = await import('./demo-schemas.js')
  const warehouse = await app.connect(DEMO)
  if (!(await dropDemoSchemas(warehouse))) {
    const problem =
      'is a schema that was not made by a demo; rename it, or use another TRACKING_HOME'
    throw new ConfigError([{ setting: DEMO_SCHEMA, problem }])
  }
  await app.prepare(warehouse, DEMO)
  await markDemoSchemas(warehouse)
  return warehouse
}

async function run(
  command: 'backfill' | 'sync',
  app: App,
  io: CommandIo,
  warehouse: Warehouse,
  simulator: Simulator,
): Promise<RunReport> {
  const { runSync } = await import('../../../../sync/run-sync.js')
  const { createProgressReporter } = await import('../../../../commands/output/progress.js')
  const progress = createProgressReporter({ stream: io.process.stderr })
  const other = {
    apiUrl: simulator.url,
    apiKey: simulator.apiKey,
    rateLimitPerMinute: NO_LIMIT,
  }
  const { service } = await app.openService({ other })
  try {
    const report = await runSync(command, {
      service,
      warehouse,
      logger: app.logger,
      // Each run of the demo is on another day of its clock.
      settings: { ...runSettingsOf(app.config), fullSyncHours: 0 },
      programVersion: app.programVersion,
      signal: app.signal,
      onProgress: progress.onProgress,
    })
    progress.stop()
    io.print(...describeRun(report))
    return report
  } finally {
    progress.stop()
  }
}

/** One row a stream: its counts in plain words. */
function describeRun({ streams, requests }: RunReport): Part[] {
  const rows = streams
    .filter(({ counts }) => counts.fetched > 0)
    .map(({ stream, counts }) => [
      stream,
      counts.inserted,
      counts.updated,
      counts.unchanged,
      counts.tombstoned,
    ])
  return [
    { columns: ['stream', 'new', 'changed', 'unchanged', 'withdrawn'], rows },
    `${countOf(requests, 'request')} to the service.`,
  ]
}

async function giveUp(app: App, io: CommandIo, report: RunReport): Promise<number> {
  const problem = await describeProblem(report, app)
  if (problem !== undefined) io.printError(problem)
  return report.exitCode
}

async function answerQuestions(warehouse: Warehouse, io: CommandIo): Promise<void> {
  const { openAnswer } = await import('../../../answers/ask/open-answer.js')
  const { prepareQuestion } = await import('../../../answers/ask/prepare-question.js')
  const { OPTIONS } = await import('../../../answers/ask/ask-words.js')
  for (const name of QUESTIONS) {
    const prepared = await prepareQuestion(warehouse.names, { question: name }, OPTIONS)
    const { question } = prepared
    io.print('', `${question.question} (${name})`, '')
    const { pieces } = await openAnswer(warehouse, prepared)
    await printAnswer(pieces, 'table', io.process.stdout, {
      terminal: { width: USUAL_WIDTH, ...io.terminal },
      mostRows: SHOWN_ROWS,
      leading: question.leading,
      sums: question.sums,
    })
  }
}
