import type { Command } from 'commander'
import type { SettingName } from '../config/settings.js'
import { requireService } from '../config/needed-settings.js'
import { EXIT_CODES } from '../base/exit-code.js'
import type { Plan, PlanTotal } from '../sync/plan/make-plan.js'
import { addSettingFlags, settingFlagsOf, type CommandIo } from './command-io.js'
import { countOf } from './output/count-of.js'
import { formatTable } from './output/print-table.js'
import type { Terminal } from './output/terminal.js'
import { SERVICE_SETTINGS } from './sync.js'

const SETTINGS: readonly SettingName[] = SERVICE_SETTINGS.filter(
  (name) => name !== 'quarantineLimitPercent' && name !== 'runMinutes',
)

export function addPlanCommand(program: Command, io: CommandIo): void {
  const command = program
    .command('plan')
    .description(
      'What a backfill and a sync would cost in requests and minutes, and why. Looks at first pages only.',
    )
    .option('--json', 'Print as JSON.')
  addSettingFlags(command, SETTINGS).action(async (options: Record<string, unknown>) => {
    await io.withApp(settingFlagsOf(options), async (app) => {
      const { observePlan } = await import('../sync/plan/observe-plan.js')
      const { estimatePlan } = await import('../sync/plan/make-plan.js')
      requireService(app.config)
      const warehouse = await app.openWarehouse()
      const { service } = await app.openService()
      const plan = estimatePlan(
        await observePlan({
          service,
          warehouse,
          logger: app.logger,
          settings: app.config,
          ratePerMinute: app.config.rateLimitPerMinute,
          signal: app.signal,
        }),
      )
      if (options.json === true) io.printJson(plan)
      else io.print(formatPlan(plan, io.terminal))
      return EXIT_CODES.complete
    })
  })
}

export function formatPlan(plan: Plan, terminal?: Terminal): string {
  const steps = plan.steps.map(({ step, backfill, sync, why }) => [step, backfill, sync, why])
  const total = ['total', plan.backfill.requests, plan.sync.requests, '']
  return [
    formatTable(['step', 'backfill', 'sync', 'why'], [...steps, total], terminal),
    '',
    `backfill: ${describeTotal(plan.backfill)} at ${plan.ratePerMinute} requests a minute`,
    `sync: ${describeTotal(plan.sync)}`,
    ...plan.unknowns.map((unknown) => `not known: ${unknown}`),
    `This plan took ${countOf(plan.requestsMade, 'request')}.`,
  ].join('\n')
}

function describeTotal({ requests, minutes }: PlanTotal): string {
  const time = minutes < 1 ? 'less than a minute' : `about ${countOf(minutes, 'minute')}`
  return `${countOf(requests, 'request')}, ${time}`
}
