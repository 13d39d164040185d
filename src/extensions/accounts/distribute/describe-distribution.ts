import { sql } from 'kysely'
import { countOf } from '../../../base/phrases.js'
import { sessionSettings } from '../../../warehouse/connection/session-settings.js'
import { readCitusTables } from './citus.js'
import type { CatalogReader } from '../../../warehouse/schema/shipped-tables.js'
import { readCitus, type Citus } from './citus-nodes.js'
import { ON_NODES } from './moving-statements.js'
import { findOpen, refuseOtherWays } from './plan-distribution.js'

/**
 * Describes how the warehouse is distributed, over which nodes, and how full each is; undefined if
 * it is not. Warns of each thing that makes it slow or stops it. Asks every node for the sizes of
 * its tables.
 */
export async function describeDistribution(reader: CatalogReader): Promise<string | undefined> {
  const citus = await readCitus(reader)
  if (citus === undefined) return undefined
  const kept = await readCitusTables(reader)
  const [first] = kept
  if (first === undefined) return undefined
  const open = await findOpen(reader, kept)
  const warnings = [
    ...(open.length === 0
      ? []
      : [
          `${open.join(', ')} not distributed; run \`tracking-sync database distribute --by schema\``,
        ]),
    ...refuseOtherWays(reader, kept),
    ...(await findSilentNodes(reader)),
    ...(await findOtherSettings(reader)),
  ]
  return [
    `by schema with Citus ${citus.version}: ${countOf(kept.length, 'table')} on ${first.node ?? 'several nodes'}`,
    await describeNodes(reader, citus),
    ...warnings.map((sentence) => `warning: ${sentence}`),
  ].join('; ')
}

/** Bytes of every distributed table of the database, other accounts included. */
async function describeNodes({ query }: CatalogReader, { nodes }: Citus): Promise<string> {
  const rows = await query(
    'ask the nodes how full they are',
    sql<{
      node: string
      bytes: number
    }>`select nodename || ':' || nodeport as node, sum(shard_size)::float8 as bytes
from citus_shards
group by 1`,
  )
  const sizes = nodes
    .map(({ name, takesTables }) => {
      const bytes = rows.find(({ node }) => node === name)?.bytes ?? 0
      return { name, bytes, isUsed: takesTables || bytes > 0 }
    })
    .filter(({ isUsed }) => isUsed)
  const all = sizes.reduce((sum, { bytes }) => sum + bytes, 0)
  const share = (bytes: number): number => (all === 0 ? 0 : Math.round((bytes / all) * 100))
  return `nodes: ${sizes.map(({ name, bytes }) => `${name} ${formatBytes(bytes)} (${share(bytes)} %)`).join(', ')}`
}

function formatBytes(bytes: number): string {
  if (bytes < 1024 ** 3) return `${(bytes / 1024 ** 2).toFixed(1)} MiB`
  return `${(bytes / 1024 ** 3).toFixed(1)} GiB`
}

/** Nodes that do not answer; statements that need their rows fail. */
async function findSilentNodes({ query }: CatalogReader): Promise<string[]> {
  const rows = await query(
    'ask the nodes whether they answer',
    sql<{ node: string; said: string }>`select nodename || ':' || nodeport as node, result as said
from run_command_on_workers('select 1')
where not success`,
  )
  return rows.map(({ node, said }) => `${node} does not answer (${said}); start PostgreSQL there`)
}

/** Nodes that answer but give this login other settings than our sessions have. */
async function findOtherSettings({ query }: CatalogReader): Promise<string[]> {
  const wanted = sessionSettings({})
  const warnings: string[] = []
  for (const name of ON_NODES) {
    const rows = await query(
      'ask the nodes for their settings',
      sql<{
        node: string
        found: string
      }>`select nodename || ':' || nodeport as node, result as found
from run_command_on_workers(format('select current_setting(%L)', ${name}::text))
where success and result is distinct from ${wanted[name]}`,
    )
    for (const { node, found } of rows) {
      warnings.push(
        `${node} has ${name} ${found} for this login, and needs ${wanted[name] ?? ''}; ` +
          'run `alter role … in database … set …` for it',
      )
    }
  }
  return warnings
}
