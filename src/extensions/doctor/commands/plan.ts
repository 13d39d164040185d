import { countOf } from '../../../base/phrases.js'
import { declare } from '../../../commands/declare-command.js'
import type { Part } from '../../../commands/output/print-table.js'
import { runSettingsOf, SERVICE_SETTINGS } from '../../../commands/sync.js'
import { requireService } from '../../../config/needed-settings.js'
import type { Plan, PlanTotal } from '../make-plan.js'

export const plan = declare({
  name: 'plan',
  help:
    'Show what a backfill and a sync would cost in requests and minutes, and why. ' +
    'Looks at first pages only.',
  settings: SERVICE_SETTINGS.filter((name) => name !== 'runMinutes'),
  run: async (app) => {
    const { estimatePlan, observePlan } = await import('../make-plan.js')
    requireService(app.config)
    const warehouse = await app.openWarehouse()
    const { service } = await app.openService()
    const { logger, config, signal } = app
    const settings = { settings: runSettingsOf(config), ratePerMinute: config.rateLimitPerMinute }
    const data = estimatePlan(
      await observePlan({ service, warehouse, logger, signal, ...settings }),
    )
    return { data, text: describePlan(data) }
  },
})

export function describePlan(plan: Plan): Part[] {
  const steps = plan.steps.map(({ step, backfill, sync, why }) => [step, backfill, sync, why])
  const total = ['total', plan.backfill.requests, plan.sync.requests, '']
  return [
    { columns: ['step', 'backfill', 'sync', 'why'], rows: [...steps, total] },
    '',
    `backfill: ${describeTotal(plan.backfill)} at ${plan.ratePerMinute} requests a minute`,
    `sync: ${describeTotal(plan.sync)}`,
    ...plan.unknowns.map((unknown) => `unknown: ${unknown}`),
    `This plan took ${countOf(plan.requestsMade, 'request')}.`,
  ]
}

function describeTotal({ requests, minutes }: PlanTotal): string {
  const time = minutes < 1 ? 'less than a minute' : `about ${countOf(minutes, 'minute')}`
  return `${countOf(requests, 'request')}, ${time}`
}
