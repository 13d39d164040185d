import { sql } from 'kysely'
import { quoteIdentifier } from '../../warehouse/connection/schema-names.js'
import type { Warehouse } from '../../warehouse/connection/warehouse.js'

/**
 * The warehouse as a role sees it, such as a customer's: every transaction takes the role first, so
 * that notes beside an answer come from rows of that role too. For statements of ours only, because
 * a person's could take the role off.
 */
export function readAsRole(warehouse: Warehouse, role: string): Warehouse {
  const transaction: Warehouse['transaction'] = (action, work) =>
    warehouse.transaction(action, async (session) => {
      await session.query(action, sql`select set_config('role', ${role}, true)`)
      return work(session)
    })
  return {
    names: warehouse.names,
    query: (action, statement) =>
      transaction(action, (session) => session.query(action, statement)),
    transaction,
    unfencedTransaction: transaction,
    another: async (action) => {
      const { client, prepare, compile } = await warehouse.another(action)
      return {
        client,
        compile,
        prepare: async (of) => {
          const prepared = await prepare(of)
          const begin = `${prepared.begin}; set local role ${quoteIdentifier(role)}`
          return { ...prepared, begin }
        },
      }
    },
    copy: () => Promise.reject(new Error('a role that reads copies nothing')),
    get db(): never {
      throw new Error('typed statements would read as the login of the program')
    },
    // Its connections are those of the other one.
    close: () => Promise.resolve(),
  }
}
