import type { Command } from 'commander'
import type { CommandIo } from './command-io.js'
import { declare } from './declare-command.js'
import { formatTable } from './output/print-table.js'

export function addStoreViewsCommand(program: Command, io: CommandIo): void {
  declare(program, io, {
    name: 'store-views',
    help:
      'Store the large views again (schema <schema>_stored), for reports that read all of them. ' +
      'Skips what did not change. For cron, where no serve does it.',
    settings: ['migrate'],
    json: 'Print what was stored as JSON.',
    run: async (app, options) => {
      const { storeViews } = await import('../warehouse/schema/store-views.js')
      const { logger, signal } = app
      const stored = await storeViews(await app.openWarehouse({ isWriting: true }), {
        logger,
        signal,
      })
      io.show(options, stored, () => {
        if (stored.length === 0) return 'No view is out of date, or another process stores them.'
        const rows = stored.map(({ name, rows: count, tookMs }) => [name, count, tookMs])
        return formatTable(['stored view', 'rows', 'took ms'], rows, io.terminal)
      })
    },
  })
}
