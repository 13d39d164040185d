import { sql } from 'kysely'
import { readFile } from 'node:fs/promises'
import { silentLogger } from '../../../src/base/logger.js'
import { STORED_VIEWS } from '../../../src/extensions/answers/stored-views.js'
import { storeViews } from '../../../src/extensions/answers/store-views.js'
import { createRoles } from '../../../src/warehouse/schema/roles.js'
import type { Warehouse } from '../../../src/warehouse/connection/warehouse.js'
import { rawStatement } from '../../../src/warehouse/connection/typed-database.js'

interface GrafanaDashboard {
  readonly panels: readonly {
    readonly title: string
    readonly targets?: readonly { readonly rawSql?: string }[]
  }[]
}

/**
 * Runs the SQL of config/grafana-dashboard.json as a reader, for each schema of views. Returns the
 * number of rows of each.
 */
export async function askAsGrafana(warehouse: Warehouse): Promise<Map<string, number>> {
  const file = new URL('../../../config/grafana-dashboard.json', import.meta.url)
  const { panels } = JSON.parse(await readFile(file, 'utf8')) as GrafanaDashboard
  const counts = new Map<string, number>()
  const done = new Error('roll back')
  const signal = new AbortController().signal
  const views = STORED_VIEWS.filter(({ name }) => name === 'attention')
  await storeViews(warehouse, { logger: silentLogger, signal, views })
  const asking = warehouse.transaction('ask as Grafana', async (session) => {
    // Roles are the server's: this one goes with the transaction, and no other test sees it.
    const inside = { ...warehouse, ...session }
    const { roles } = await createRoles({ ...inside, transaction: (_what, work) => work(session) })
    await session.query('become a reader', sql`set local role ${sql.raw(roles.reader)}`)
    for (const { title, targets = [] } of panels) {
      for (const { rawSql } of targets) {
        if (rawSql === undefined) continue
        const sent = ['tracking_analytics', 'tracking_stored'].map((views) => asSent(rawSql, views))
        for (const sqlText of new Set(sent)) {
          const rows = await session.query(title, rawStatement(sqlText))
          counts.set(`${title}: ${sqlText}`, rows.length)
        }
      }
    }
    throw done
  })
  await asking.catch((thrown: unknown) => {
    if (thrown !== done) throw thrown
  })
  return counts
}

/** With what Grafana puts in the place of its variables and macros. */
function asSent(rawSql: string, views: string): string {
  const sqlText = rawSql
    .replaceAll('$views', views)
    .replaceAll(/\$__timeFilter\((.*?)\)/g, `$1 between now() - interval '7 days' and now()`)
  if (sqlText.includes('$')) throw new Error(`The test does not know a macro of: ${rawSql}`)
  return sqlText
}
