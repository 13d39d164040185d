import { sql } from 'kysely'
import { readShippedTables } from '../../../warehouse/schema/shipped-tables.js'
import { quotedName, readCitusTables, describeSpread, type CitusTable } from './citus.js'
import type { CatalogReader } from '../../../warehouse/schema/shipped-tables.js'
import { readCitus } from './citus-nodes.js'
import { findObstacles } from './find-obstacles.js'
import { distributing, freeing, returning } from './moving-statements.js'

/** A table that moves to a node, or back from it. */
export interface PlannedTable {
  /** Quoted, with its schema. */
  readonly name: string
  readonly rows: number
}

/** The statements to run, and the obstacles. */
export interface DistributionPlan {
  /** The nodes that may get the rows, as `host:port`. */
  readonly nodes: readonly string[]
  readonly tables: readonly PlannedTable[]
  /** All in one transaction, in this order. */
  readonly statements: readonly string[]
  /**
   * After the transaction, each by itself: they free the room that the rows took before. Also frees
   * what an earlier run left.
   */
  readonly freeing: readonly string[]
  /** Reasons against it, each a sentence; empty if it can be done. */
  readonly refusals: readonly string[]
}

/** The first version that can keep a table whole on a node. */
const OLDEST_CITUS = 12

/** Tables of the bookkeeping that statements join with those of containers. */
const BESIDE_DATA = ['event_lists_in_doubt', 'transport_event_checks']

const NO_CITUS =
  'the database lacks Citus: install it on every node, run `create extension citus` in the ' +
  'database of this name there, and `select citus_add_node(…)` here for each of the others'

const NO_NODE = 'no node of Citus takes tables; add one with `select citus_add_node(…)`'

/**
 * Plans to put the account whole on one node: the data tables and the tables that views read with
 * them. The bookkeeping stays in the database that commands connect to. Leaves out tables that an
 * earlier run moved. Reads only, and counts the rows.
 */
export async function planDistribution(reader: CatalogReader): Promise<DistributionPlan> {
  const citus = await readCitus(reader)
  if (citus === undefined) return refuse(NO_CITUS)
  if (Number.parseInt(citus.version, 10) < OLDEST_CITUS) {
    return refuse(`Citus ${citus.version} is too old; use ${OLDEST_CITUS} or later`)
  }
  const nodes = citus.nodes.filter(({ takesTables }) => takesTables).map(({ name }) => name)
  const kept = await readCitusTables(reader)
  const open = await findOpen(reader, kept)
  const left = await findUnfreed(reader, kept)
  return {
    nodes,
    tables: await countRows(reader, open),
    statements: open.length === 0 ? [] : await distributing(reader, open),
    freeing: [...left, ...open].map(freeing),
    refusals: [
      ...(nodes.length === 0 ? [NO_NODE] : []),
      ...refuseOtherWays(reader, kept),
      ...(open.length === 0
        ? []
        : await findObstacles(reader, [...kept.map(({ name }) => name), ...open])),
    ],
  }
}

/**
 * Plans to bring every table back to the database that commands connect to. Reads only, and counts
 * the rows.
 */
export async function planReturn(reader: CatalogReader): Promise<DistributionPlan> {
  const kept = (await readCitus(reader)) === undefined ? [] : await readCitusTables(reader)
  const tables = kept.map(({ name }) => name)
  return {
    nodes: [],
    tables: await countRows(reader, tables),
    statements: tables.length === 0 ? [] : await returning(reader, tables),
    freeing: [],
    refusals: [...refuseOtherWays(reader, kept), ...(await findObstacles(reader, tables))],
  }
}

function refuse(sentence: string): DistributionPlan {
  return { nodes: [], tables: [], statements: [], freeing: [], refusals: [sentence] }
}

/** The tables that belong together and are not yet; the first one decides the node. Reads only. */
export async function findOpen(
  { query, names }: CatalogReader,
  kept: readonly CitusTable[],
): Promise<readonly string[]> {
  const shipped = (await readShippedTables(names)).map((name) => name.split('.'))
  const wanted = shipped
    .filter(
      ([schema, table = '']) =>
        schema === names.data || schema === names.analytics || BESIDE_DATA.includes(table),
    )
    .map(([schema = '', table = '']) => quotedName(schema, table))
  const found = await query(
    'list our tables',
    sql<{
      name: string
    }>`select name from unnest(${wanted}::text[]) as name where to_regclass(name) is not null`,
  )
  const first = names.table('containers')
  return found
    .map(({ name }) => name)
    .filter((name) => kept.every((table) => table.name !== name))
    .sort((one, other) => Number(other === first) - Number(one === first))
}

async function countRows(
  { query }: CatalogReader,
  tables: readonly string[],
): Promise<readonly PlannedTable[]> {
  const planned: PlannedTable[] = []
  for (const qualifiedName of tables) {
    const [row] = await query(
      `count the rows of ${qualifiedName}`,
      sql<{ rows: number }>`select count(*) as rows from ${sql.raw(qualifiedName)}`,
    )
    planned.push({ name: qualifiedName, rows: row?.rows ?? 0 })
  }
  return planned
}

/** Tables whose moved rows still take room here: a run ended before it freed them. */
async function findUnfreed(
  { query }: CatalogReader,
  kept: readonly CitusTable[],
): Promise<readonly string[]> {
  const rows = await query(
    'look for rows that were moved',
    sql<{ name: string }>`select name
from unnest(${kept.map(({ name }) => name)}::text[]) as name
where pg_relation_size(name::regclass) > 0`,
  )
  return rows.map(({ name }) => name)
}

/**
 * A sentence if a table is distributed in another way than this command does it, or apart from the
 * others.
 */
export function refuseOtherWays(
  reader: Pick<CatalogReader, 'names'>,
  kept: readonly CitusTable[],
): string[] {
  const spread = describeSpread(reader, kept)
  if (spread !== undefined) return [spread]
  const group = kept.find(({ isWhole }) => isWhole)?.group
  const other = kept.find((table) => !table.isWhole || table.group !== group)
  if (other === undefined) return []
  return [
    `${other.name} was distributed in another way than this command does; bring it back first: ` +
      `select undistribute_table('${other.name}')`,
  ]
}
