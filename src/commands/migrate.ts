import { WarehouseSchemaError } from '../base/errors.js'
import { EXIT_CODES } from '../base/exit-code.js'
import { createSleep } from '../base/retry.js'
import type { RolesReport } from '../warehouse/schema/roles.js'
import { declare, flag } from './declare-command.js'

export const migrate = declare({
  name: 'migrate',
  help:
    'Create or upgrade the schemas. ' +
    'The other commands do it too, unless TRACKING_MIGRATE is false.',
  json: 'Print what was done as JSON.',
  takes: {
    roles: flag(
      '--roles',
      'Also create the roles for readers and writers, ' +
        'or print the statements if this user may not.',
    ),
  },
  run: async (app, { roles: isWithRoles }) => {
    const { prepareSchemas } = await import('../warehouse/schema/prepare-schemas.js')
    const { createRoles } = await import('../warehouse/schema/roles.js')
    const warehouse = await app.connect()
    const report = await prepareSchemas(warehouse, { sleep: createSleep() })
    const roles = isWithRoles ? await createRoles(warehouse) : undefined
    const isRefused = roles?.isDone === false
    const views = report.views.length
    return {
      data: { ...report, roles },
      text: [
        ...report.applied.map((name) => `applied ${name}`),
        ...(views > 0 ? [`installed ${views} views`] : []),
        `The schemas ${Object.values(warehouse.names).join(', ')} are at version ` +
          `${report.version}.`,
        ...(roles === undefined ? [] : describeRoles(roles)),
      ],
      exitCode: isRefused ? EXIT_CODES.database : EXIT_CODES.complete,
      error: isRefused
        ? 'this user may not create roles or grant rights; ' +
          'have an administrator run the statements above'
        : undefined,
    }
  },
})

function describeRoles({ isDone, roles, statements }: RolesReport): string[] {
  if (!isDone) return statements.flatMap((statement) => `${statement};`.split('\n'))
  const { reader, writer } = roles
  return [
    `The roles ${reader} and ${writer} have their rights.`,
    'Give a login one of them: grant <role> to <user>;',
  ]
}

export const storeViews = declare({
  name: 'store-views',
  help:
    'Store the large views again (schema <schema>_stored), for reports that read all of them. ' +
    'Skips what did not change. For cron, if no serve runs.',
  settings: ['migrate'],
  json: 'Print what was stored as JSON.',
  run: async (app) => {
    const { storeViews: store } = await import('../warehouse/schema/store-views.js')
    const { logger, signal } = app
    const warehouse = await app.openWarehouse({ isWriting: true })
    const { isDistributed } = await import('../warehouse/distribute/citus.js')
    if (await isDistributed(warehouse)) {
      throw new WarehouseSchemaError(
        'the warehouse is distributed, and its views are not stored: the rows would stand on ' +
          'another node than those they are made of; read the views themselves',
      )
    }
    const stored = await store(warehouse, { logger, signal })
    const rows = stored.map(({ name, rows: count, tookMs }) => [name, count, tookMs])
    return {
      data: stored,
      text:
        rows.length === 0
          ? ['No view is out of date, or another process is storing them.']
          : [{ columns: ['stored view', 'rows', 'took ms'], rows }],
    }
  },
})
