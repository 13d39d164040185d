import type { Command } from 'commander'
import type { StatusSection } from '../status/describe-status.js'
import type { CommandIo } from './command-io.js'
import { declare } from './declare-command.js'
import { escapeControls, formatTable } from './output/print-table.js'
import type { Terminal } from './output/terminal.js'

export function addStatusCommand(program: Command, io: CommandIo): void {
  declare(program, io, {
    name: 'status',
    help:
      'Show what needs attention and how fresh the warehouse is: ' +
      'rows, last runs, queues, quarantine, request budget, who is writing.',
    run: async (app, options) => {
      const { findAlerts } = await import('../status/alerts.js')
      const { describeStatus } = await import('../status/describe-status.js')
      const { readStatus } = await import('../status/read-status.js')
      const { slotsOf } = await import('../status/sync-freshness.js')
      const status = await readStatus(await app.openWarehouse())
      const alerts = findAlerts(status, { slots: slotsOf(app.config), isServing: false })
      io.show(options, { alerts, ...status }, () => {
        const sections = describeStatus(status, app.config.rateLimitPerMinute)
        const parts = sections.map((section) => formatSection(section, io.terminal))
        parts.unshift(alerts.map((alert) => `ALERT: ${escapeControls(alert)}`).join('\n'))
        return parts.filter((part) => part !== '').join('\n\n')
      })
    },
  })
}

function formatSection({ columns, rows, empty, note }: StatusSection, terminal: Terminal): string {
  if (rows.length === 0) return empty
  const table = formatTable(columns, rows, terminal)
  return note === undefined ? table : `${table}\n${note}`
}
