import type { App } from '../../app.js'
import { ConfigError } from '../../base/errors.js'
import type { Warehouse } from '../../warehouse/connection/warehouse.js'
import { numberPageOf } from '../answers/number-page.js'
import { adviseReaderLogin, describeMight, readLoginRights } from '../answers/mighty-login.js'
import { TIMEOUT_SECONDS, type AskSession } from './tools/tool.js'

/**
 * The connection of a server that runs for days: opened by the first tool that needs it, and tried
 * again by the next one if the database is away. It is that of own SQL (TRACKING_READER_URL), else
 * that of DATABASE_URL, which must be a reader's or a customer's.
 */
export function createReaderSession(app: App): AskSession {
  let prepared: Promise<Warehouse> | undefined
  let isAdmitted = false

  async function connect(): Promise<Warehouse> {
    if ((await app.openDatabase()).readerUrl === undefined) return openReader()
    const program = await app.connect()
    try {
      await app.prepare(program, { isOfRows: true })
      await app.keepReader(program)
    } finally {
      await program.close()
    }
    return openReader()
  }

  const openReader = () => app.connectReader({ statementTimeoutMs: TIMEOUT_SECONDS * 1000 })

  return {
    pageOf: numberPageOf(app.config),
    open: async () => {
      const attempt = (prepared ??= connect())
      const reader = await attempt.catch((thrown: unknown) => {
        if (prepared === attempt) prepared = undefined
        throw thrown
      })
      if (!isAdmitted) await refuseOthers(reader, app)
      isAdmitted = true
      return reader
    },
  }
}

/** Throws ConfigError for a login that may do more than read, or less. */
async function refuseOthers(reader: Warehouse, app: App): Promise<void> {
  const { login, mightyRole, mayRead, mayWrite, seesVerifiers } = await readLoginRights(reader)
  const { data } = reader.names
  if (!mayRead) {
    const problem = `may not read the warehouse; give it the role ${data}_reader or ${data}_customer`
    throw new ConfigError([{ setting: `the login ${login}`, problem }])
  }
  const might =
    mightyRole !== null
      ? describeMight(login, mightyRole)
      : mayWrite
        ? 'may write the warehouse'
        : seesVerifiers
          ? 'may read every table of the database, and the verifiers of its passwords'
          : undefined
  if (might === undefined) return
  const { url, readerUrl = url } = await app.openDatabase()
  const { host, pathname } = new URL(readerUrl)
  const advice = adviseReaderLogin(reader.names, `${host === '' ? 'localhost' : host}${pathname}`)
  const problem = `${might}; mcp answers as a reader or a customer only: ${advice}`
  throw new ConfigError([{ setting: `the login ${login}`, problem }])
}
