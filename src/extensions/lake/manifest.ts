import { z } from 'zod'

/**
 * The content of a folder: one line of JSON, replaced at once when an export is complete. A file
 * that the manifest does not name does not count. Readers in SQL use its words too, so no
 * `camelCase`.
 */
export type Manifest = z.infer<typeof manifestSchema>
export type ManifestTable = Manifest['tables'][number]
export type ManifestFile = Manifest['files'][number]

/** Raised when an older program could misread a folder. */
const FORMAT = 1

const warehouseSchema = z.object({
  /** Base name of its schemas. */
  schema: z.string(),
  /** Address of the service that it is filled from. */
  source: z.string(),
  /**
   * Hash of the warehouse's first run, which differs from that of any other. It moves along with
   * the warehouse.
   */
  id: z.string(),
})

/** Marks the rows that a later export may leave out: rows of transactions before this number. */
const sinceSchema = z.object({
  /** Server, timeline and database in which the numbers count. */
  cluster: z.string(),
  /** PostgreSQL's number of the table. */
  relation: z.number(),
  /** The oldest transaction that was open: with its epoch, as a text of digits. */
  xid: z.string().regex(/^\d+$/),
})

const manifestSchema = z.object({
  format: z.literal(FORMAT),
  warehouse: warehouseSchema,
  /** Number of the last export. */
  export: z.number().int(),
  /** The instant that the last export shows, in UTC; null before the first is complete. */
  exported_at: z.string().nullable(),
  tables: z.array(
    z.object({
      /** The folder of its files: `tables/containers`, `answers/attention`. */
      folder: z.string(),
      kind: z.enum(['changes', 'whole']),
      key: z.array(z.string()),
      columns: z.array(z.object({ name: z.string(), type: z.string() })),
      /** Number of the export with all rows; later exports hold changes. */
      whole_export: z.number().int(),
      /** The instant that its files show, in UTC. */
      exported_at: z.string(),
      since: sinceSchema.nullable(),
      /** Rows in the warehouse at that instant. */
      row_count: z.number().int(),
    }),
  ),
  files: z.array(
    z.object({
      /** The path from the folder of the lake on, with `/`. */
      path: z.string(),
      /** The folder of its table. */
      folder: z.string(),
      export: z.number().int(),
      row_count: z.number().int(),
      bytes: z.number().int(),
      /** By column, the number of values that are null here because they fit no type of Parquet. */
      beyond_type: z.record(z.string(), z.number().int()).default({}),
    }),
  ),
})

export type WarehouseIdentity = z.infer<typeof warehouseSchema>
export type Since = z.infer<typeof sinceSchema>

/** For a folder that is taken and still empty. */
export function firstManifest(warehouse: WarehouseIdentity): Manifest {
  return { format: FORMAT, warehouse, export: 0, exported_at: null, tables: [], files: [] }
}

/** Undefined: not written by this program, or by a later one, or damaged. */
export function parseManifest(text: string): Manifest | undefined {
  try {
    return manifestSchema.safeParse(JSON.parse(text)).data
  } catch {
    return undefined
  }
}

export function formatManifest(manifest: Manifest): string {
  return `${JSON.stringify(manifest)}\n`
}
