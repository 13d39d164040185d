/** The six schemas of one account, all named after one setting (`TRACKING_SCHEMA`). */
export interface SchemaNames {
  /** The data tables. */
  readonly data: string
  /** Bookkeeping. */
  readonly sync: string
  readonly analytics: string
  /** The views of the analytics schema again, of what was known at an instant. */
  readonly asOf: string
  /** Compatibility views. */
  readonly datasync: string
  /** Large views of the others as a run last stored them. */
  readonly stored: string
}

/** `base` was checked by the settings: lower-case letters, digits and underscores, at most 50 characters. */
export function schemaNames(base: string): SchemaNames {
  return {
    data: base,
    sync: `${base}_sync`,
    analytics: `${base}_analytics`,
    asOf: `${base}_as_of`,
    datasync: `${base}_datasync`,
    stored: `${base}_stored`,
  }
}

/** Quotes an identifier for SQL text. Identifiers come from our own constants and the schema setting, never from data. */
export function quoteIdentifier(name: string): string {
  return `"${name.replaceAll('"', '""')}"`
}

/**
 * Puts the schema names into a shipped SQL text in place of `{{data}}`, `{{sync}}`, `{{analytics}}`, `{{asOf}}`, `{{datasync}}` and `{{stored}}`. An
 * unknown placeholder is a bug in that text and throws.
 */
export function withSchemaNames(sqlText: string, names: SchemaNames): string {
  return sqlText.replace(/\{\{(\w+)\}\}/g, (placeholder, name: string) => {
    if (!(name in names)) throw new Error(`unknown placeholder ${placeholder}`)
    return quoteIdentifier(names[name as keyof SchemaNames])
  })
}
