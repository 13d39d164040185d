import type { Command } from 'commander'
import { EXIT_CODES } from '../base/exit-code.js'
import { addSettingFlags, settingFlagsOf, type CommandIo } from './command-io.js'
import { formatTable } from './output/print-table.js'

export function addStoreViewsCommand(program: Command, io: CommandIo): void {
  const command = program
    .command('store-views')
    .description(
      'Store the large views again (schema <schema>_stored), for reports that read all of them; what did not change is skipped. For cron, where no serve does it.',
    )
    .option('--json', 'Print what was stored as JSON.')
  addSettingFlags(command, ['migrate']).action(async (options: Record<string, unknown>) => {
    await io.withApp(settingFlagsOf(options), async (app) => {
      const { storeViews } = await import('../warehouse/schema/store-views.js')
      const warehouse = await app.openWarehouse({ isWriting: true })
      const { logger, signal } = app
      const stored = await storeViews(warehouse, { logger, signal })
      const rows = stored.map(({ name, rows: count, tookMs }) => [name, count, tookMs])
      if (options.json === true) io.printJson(stored)
      else if (stored.length === 0) io.print('No view is out of date, or another process stores them.')
      else io.print(formatTable(['stored view', 'rows', 'took ms'], rows, io.terminal))
      return EXIT_CODES.complete
    })
  })
}
