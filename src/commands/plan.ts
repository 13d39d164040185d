import type { Command } from 'commander'
import { countOf } from '../base/phrases.js'
import { requireService } from '../config/needed-settings.js'
import type { Plan, PlanTotal } from '../sync/make-plan.js'
import type { CommandIo } from './command-io.js'
import { declare } from './declare-command.js'
import { formatTable } from './output/print-table.js'
import type { Terminal } from './output/terminal.js'
import { SERVICE_SETTINGS } from './sync.js'

export function addPlanCommand(program: Command, io: CommandIo): void {
  declare(program, io, {
    name: 'plan',
    help:
      'Show what a backfill and a sync would cost in requests and minutes, and why. ' +
      'Looks at first pages only.',
    settings: SERVICE_SETTINGS.filter(
      (name) => name !== 'quarantineLimitPercent' && name !== 'runMinutes',
    ),
    run: async (app, options) => {
      const { estimatePlan, observePlan } = await import('../sync/make-plan.js')
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
      io.show(options, plan, () => formatPlan(plan, io.terminal))
    },
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
    ...plan.unknowns.map((unknown) => `unknown: ${unknown}`),
    `This plan took ${countOf(plan.requestsMade, 'request')}.`,
  ].join('\n')
}

function describeTotal({ requests, minutes }: PlanTotal): string {
  const time = minutes < 1 ? 'less than a minute' : `about ${countOf(minutes, 'minute')}`
  return `${countOf(requests, 'request')}, ${time}`
}
