import type { Command } from 'commander'
import { createSleep } from '../base/retry.js'
import type { RolesReport } from '../warehouse/schema/roles.js'
import { addSettingFlags, settingFlagsOf, type CommandIo } from './command-io.js'
import { EXIT_CODES } from '../base/exit-code.js'

export function addMigrateCommand(program: Command, io: CommandIo): void {
  const command = program
    .command('migrate')
    .description(
      'Create or upgrade the schemas. The other commands do it too, unless TRACKING_MIGRATE is false.',
    )
    .option(
      '--roles',
      'Also create the roles for readers and writers; where this user may not, print the statements.',
    )
    .option('--json', 'Print what was done as JSON.')
  addSettingFlags(command).action(async (options: Record<string, unknown>) => {
    await io.withApp(settingFlagsOf(options), async (app) => {
      const { prepareSchemas } = await import('../warehouse/schema/prepare-schemas.js')
      const { createRoles } = await import('../warehouse/schema/roles.js')
      const warehouse = await app.openWarehouse({ isMigrating: false })
      const report = await prepareSchemas(warehouse, { sleep: createSleep() })
      const roles = options.roles === true ? await createRoles(warehouse) : undefined
      if (options.json === true) io.printJson({ ...report, roles })
      else {
        for (const name of report.applied) io.print(`applied ${name}`)
        if (report.views.length > 0) io.print(`installed ${report.views.length} views`)
        io.print(
          `The schemas ${Object.values(warehouse.names).join(', ')} are at version ${report.version}.`,
        )
        if (roles !== undefined) tellRoles(io, roles)
      }
      return roles?.isDone === false ? EXIT_CODES.database : EXIT_CODES.complete
    })
  })
}

function tellRoles(io: CommandIo, { isDone, roles, statements }: RolesReport): void {
  if (isDone) {
    io.print(
      `The roles ${roles.reader} and ${roles.writer} have their rights; give a login one of them: grant ${roles.reader} to <user>;`,
    )
    return
  }
  io.printError(
    'this user may not create roles or grant rights; let one who may run these statements',
  )
  for (const statement of statements) io.print(`${statement};`)
}
