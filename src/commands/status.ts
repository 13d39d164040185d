import type { Command } from 'commander'
import { EXIT_CODES } from '../base/exit-code.js'
import type { StatusSection } from '../status/describe-status.js'
import { addSettingFlags, settingFlagsOf, type CommandIo } from './command-io.js'
import { escapeControls, formatTable } from './output/print-table.js'
import type { Terminal } from './output/terminal.js'

export function addStatusCommand(program: Command, io: CommandIo): void {
  const command = program
    .command('status')
    .description(
      'Show what needs attention and how fresh the warehouse is: ' +
        'rows, last runs, queues, quarantine, request budget, who is writing.',
    )
    .option('--json', 'Print as JSON.')
  addSettingFlags(command).action(async (options: Record<string, unknown>) => {
    await io.withApp(settingFlagsOf(options), async (app) => {
      const { findAlerts } = await import('../status/alerts.js')
      const { describeStatus } = await import('../status/describe-status.js')
      const { readStatus } = await import('../status/read-status.js')
      const { slotsOf } = await import('../status/sync-freshness.js')
      const status = await readStatus(await app.openWarehouse())
      const alerts = findAlerts(status, { slots: slotsOf(app.config), isServing: false })
      if (options.json === true) io.printJson({ alerts, ...status })
      else {
        const sections = describeStatus(status, app.config.rateLimitPerMinute)
        const parts = sections.map((section) => formatSection(section, io.terminal))
        parts.unshift(alerts.map((alert) => `ALERT: ${escapeControls(alert)}`).join('\n'))
        io.print(parts.filter((part) => part !== '').join('\n\n'))
      }
      return EXIT_CODES.complete
    })
  })
}

function formatSection({ columns, rows, empty, note }: StatusSection, terminal: Terminal): string {
  if (rows.length === 0) return empty
  const table = formatTable(columns, rows, terminal)
  return note === undefined ? table : `${table}\n${note}`
}
