import pg from 'pg'
import { inject } from 'vitest'
import { callCli, type CliCall } from '../call-cli.js'
import { createTestWarehouse } from '../test-warehouse.js'
import { withClient } from '../with-client.js'

const PASSWORD = "it's for $& this"

export interface LoginsOptions {
  /**
   * Of the schemas and the beginning of each login's name. Roles are the server's, not the
   * database's: no other file may use it.
   */
  readonly schema: string
  /** Each with what `create role` says of it; empty: nothing. */
  readonly logins: Readonly<Record<string, string>>
  readonly isMigrated?: boolean
}

export type Logins = Awaited<ReturnType<typeof openLogins>>

/** A warehouse with logins, and a superuser's connection that grants them what a test wants. */
export async function openLogins(options: LoginsOptions) {
  const { schema, logins, isMigrated = true } = options
  // PostgreSQL itself: a pooler has a login of its own.
  const serverUrl = inject('databaseServerUrl')
  const opened = await createTestWarehouse({ schema, serverUrl, isMigrated })
  const admin = new pg.Client({ connectionString: opened.url })
  await admin.connect()
  const nameOf = (login: string): string => `${schema}_as_${login}`
  const run = async <Row = Record<string, unknown>>(
    sqlText: string,
    values: readonly unknown[] = [],
  ): Promise<Row[]> => (await admin.query(sqlText, [...values])).rows as Row[]
  for (const [login, rights] of Object.entries(logins)) {
    const password = pg.escapeLiteral(PASSWORD)
    await run(`create role ${nameOf(login)} login password ${password} ${rights}`)
  }
  const urlOf = (login: string, address = opened.url): string => {
    const url = new URL(address)
    url.username = nameOf(login)
    url.password = encodeURIComponent(PASSWORD)
    return url.href
  }
  return {
    warehouse: opened.warehouse,
    /** The superuser's. */
    url: opened.url,
    schema,
    reader: `${schema}_reader`,
    writer: `${schema}_writer`,
    nameOf,
    urlOf,
    run,
    /** As the superuser where no login is named. */
    call: (
      login: string | undefined,
      args: readonly string[],
      settings: Readonly<Record<string, string>> = {},
    ): Promise<CliCall> =>
      callCli(args, {
        DATABASE_URL: login === undefined ? opened.url : urlOf(login),
        TRACKING_SCHEMA: schema,
        TRACKING_LOG_LEVEL: 'silent',
        TRACKING_RATE_LIMIT_PER_MINUTE: '100000',
        ...settings,
      }),
    /** `ok`, or the SQLSTATE of the refusal. */
    tryAs: async (login: string, statement: string): Promise<string> => {
      try {
        await withClient(urlOf(login), (client) => client.query(statement))
        return 'ok'
      } catch (error) {
        return (error as { code?: string }).code ?? 'no code'
      }
    },
    close: async (): Promise<void> => {
      const roles = await run<{ name: string }>(
        `select rolname as name from pg_roles where starts_with(rolname, $1)`,
        [`${schema}_`],
      )
      for (const { name } of roles) await run(`reassign owned by ${name} to current_user`)
      for (const { name } of roles) await run(`drop owned by ${name} cascade; drop role ${name}`)
      await admin.end()
      await opened.drop()
    },
  }
}
