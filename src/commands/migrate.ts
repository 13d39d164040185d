import type { Command } from 'commander'
import { createSleep } from '../retry.js'
import { addSettingFlags, settingFlagsOf, type CommandIo } from './command-io.js'
import { EXIT_CODES } from '../exit-code.js'

export function addMigrateCommand(program: Command, io: CommandIo): void {
  const command = program
    .command('migrate')
    .description(
      'Create or upgrade the schemas. The other commands do it too, unless TRACKING_MIGRATE is false.',
    )
    .option('--json', 'Print what was applied as JSON.')
  addSettingFlags(command).action(async (options: Record<string, unknown>) => {
    await io.withApp(settingFlagsOf(options), async (app) => {
      const { migrate, readMigrations } = await import('../warehouse/migrate.js')
      const warehouse = await app.openWarehouse({ isMigrating: false })
      const report = await migrate(warehouse, await readMigrations(), { sleep: createSleep() })
      if (options.json === true) io.printJson(report)
      else {
        for (const name of report.applied) io.print(`applied ${name}`)
        io.print(
          `The schemas ${Object.values(warehouse.names).join(', ')} are at version ${report.version}.`,
        )
      }
      return EXIT_CODES.complete
    })
  })
}
