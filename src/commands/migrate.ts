import type { Command } from 'commander'
import { EXIT_CODES } from '../base/exit-code.js'
import { createSleep } from '../base/retry.js'
import type { RolesReport } from '../warehouse/schema/roles.js'
import type { CommandIo } from './command-io.js'
import { declare } from './declare-command.js'

export function addMigrateCommand(program: Command, io: CommandIo): void {
  declare<{ readonly roles?: boolean }>(program, io, {
    name: 'migrate',
    help:
      'Create or upgrade the schemas. ' +
      'The other commands do it too, unless TRACKING_MIGRATE is false.',
    json: 'Print what was done as JSON.',
    define: (command) =>
      command.option(
        '--roles',
        'Also create the roles for readers and writers. ' +
          'If this user may not, print the statements.',
      ),
    run: async (app, options) => {
      const { prepareSchemas } = await import('../warehouse/schema/prepare-schemas.js')
      const { createRoles } = await import('../warehouse/schema/roles.js')
      const warehouse = await app.openWarehouse({ isMigrating: false })
      const report = await prepareSchemas(warehouse, { sleep: createSleep() })
      const roles = options.roles === true ? await createRoles(warehouse) : undefined
      if (roles?.isDone === false && options.json !== true) {
        io.printError(
          'this user may not create roles or grant rights; ' +
            'have an administrator run the statements below',
        )
      }
      io.show(options, { ...report, roles }, () => {
        const names = Object.values(warehouse.names).join(', ')
        const views = report.views.length
        return [
          ...report.applied.map((name) => `applied ${name}`),
          ...(views > 0 ? [`installed ${views} views`] : []),
          `The schemas ${names} are at version ${report.version}.`,
          ...(roles === undefined ? [] : describeRoles(roles)),
        ].join('\n')
      })
      return roles?.isDone === false ? EXIT_CODES.database : EXIT_CODES.complete
    },
  })
}

function describeRoles({ isDone, roles, statements }: RolesReport): string[] {
  if (!isDone) return statements.map((statement) => `${statement};`)
  const { reader, writer } = roles
  return [
    `The roles ${reader} and ${writer} have their rights.`,
    'Give a login one of them: grant <role> to <user>;',
  ]
}
