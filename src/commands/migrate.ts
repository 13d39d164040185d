import { EXIT_CODES } from '../base/exit-code.js'
import type { RolesReport } from '../warehouse/schema/roles.js'
import type { App } from '../app.js'
import { command, flag } from './declare-command.js'

export const migrate = command({
  name: 'migrate',
  help:
    'Create or upgrade the schemas. ' +
    'The other commands do it too, unless TRACKING_MIGRATE is false.',
  json: 'Print what was done as JSON.',
  takes: {
    roles: flag(
      '--roles',
      'Also create the roles for readers and writers, ' +
        'or print the statements if this user may not; and the login of TRACKING_READER_URL.',
    ),
  },
  run: (app, { roles }) => migrateOne(app, roles),
})

/** Upgrades one account. `isWithRoles`: also makes the roles. */
export async function migrateOne(app: App, isWithRoles: boolean) {
  const { prepareSchemas } = await import('../warehouse/schema/prepare-schemas.js')
  const { refuseReadOnly } = await import('../warehouse/connection/read-only.js')
  const { createRoles, loginOf, unsealTables } = await import('../warehouse/schema/roles.js')
  const warehouse = await app.connect()
  const options = app.migrateOptions()
  await refuseReadOnly(warehouse)
  // Forced on their owner too, it hides the list of migrations.
  const unsealed = isWithRoles ? await unsealTables(warehouse) : []
  const report = await prepareSchemas(warehouse, options)
  const { readerUrl } = await app.openDatabase()
  const login = readerUrl === undefined ? undefined : loginOf(readerUrl)
  const roles = isWithRoles ? await createRoles(warehouse, login) : undefined
  await app.keepReader(warehouse)
  const isRefused = roles?.isDone === false
  const views = report.views.length
  const done = [
    ...unsealed.map(describeUnsealed),
    ...report.applied.map((name) => `applied ${name}`),
    ...(views > 0 ? [`installed ${views} views`] : []),
    `The schemas ${Object.values(warehouse.names).join(', ')} are at version ${report.version}.`,
  ]
  return {
    data: { ...report, roles },
    text: [
      // With statements to follow, the whole output can be handed to psql.
      ...(isRefused ? done.map((line) => `-- ${line}`) : done),
      ...(roles === undefined ? [] : describeRoles(roles, login?.user)),
    ],
    exitCode: isRefused ? EXIT_CODES.database : EXIT_CODES.complete,
    error: isRefused
      ? 'this user may not create roles or grant rights; ' +
        'have an administrator run the statements above'
      : undefined,
  }
}

function describeRoles(
  { isDone, roles, statements }: RolesReport,
  login: string | undefined,
): string[] {
  if (!isDone) return statements.flatMap((statement) => `${statement};`.split('\n'))
  const { reader, writer } = roles
  const opened = statements.filter((statement) => statement.endsWith('disable row level security'))
  return [
    `The roles ${reader} and ${writer} have their rights.`,
    ...opened.map(describeUnsealed),
    ...(login === undefined ? [] : [`Own SQL logs in as ${login}, a member of ${reader}.`]),
    'Give a login one of them: grant <role> to <user>;',
  ]
}

function describeUnsealed(statement: string): string {
  return `${statement}, which was switched on from outside.`
}
