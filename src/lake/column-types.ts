import { quoteIdentifier } from '../warehouse/connection/schema-names.js'

/** A column of PostgreSQL's catalogue. */
export interface CatalogColumn {
  readonly name: string
  /** As `format_type` writes it; of a domain, the type it is based on. */
  readonly type: string
}

/** How a column leaves PostgreSQL, as a text, and what it becomes in the files. */
export interface LakeColumn {
  readonly name: string
  /** What `copy` selects. */
  readonly sourceSql: string
  /** DuckDB's type, which decides Parquet's. */
  readonly type: string
  /** DuckDB's expression for the value, of the column of texts of the same name. */
  readonly targetSql: string
}

/**
 * For `numeric` without bounds: amounts, weights, coordinates, shares. 38 digits are what Parquet's
 * readers have in common.
 */
const DECIMAL_DIGITS = 38
const DECIMAL_PLACES = 18

/** Values that no decimal of the files can hold: null there, and here with all their digits. */
export const BEYOND_DECIMAL = '_beyond_decimal'

const SIMPLE: Readonly<Record<string, string>> = {
  boolean: 'boolean',
  smallint: 'smallint',
  integer: 'integer',
  bigint: 'bigint',
  real: 'float',
  'double precision': 'double',
  date: 'date',
  'time without time zone': 'time',
  'timestamp with time zone': 'timestamptz',
  'timestamp without time zone': 'timestamp',
  jsonb: 'json',
  json: 'json',
}

/** Arrays whose elements JSON holds without loss. */
const LISTS: Readonly<Record<string, string>> = {
  'text[]': 'varchar[]',
  'boolean[]': 'boolean[]',
  'integer[]': 'integer[]',
  'bigint[]': 'bigint[]',
}

/**
 * The columns of a table as they stand in its files. What Parquet has no common type for, such as a
 * uuid, an interval or a value of an enumeration, is a text as PostgreSQL writes it.
 */
export function toLakeColumns(columns: readonly CatalogColumn[]): LakeColumn[] {
  const decimals = columns.filter(({ type }) => isDecimal(type))
  return [...columns.map(toLakeColumn), ...(decimals.length === 0 ? [] : [beyondDecimal(decimals)])]
}

function toLakeColumn({ name, type }: CatalogColumn): LakeColumn {
  const column = quoteIdentifier(name)
  const simple = SIMPLE[type]
  if (simple !== undefined) {
    return { name, sourceSql: column, type: simple, targetSql: `cast(${column} as ${simple})` }
  }
  if (isDecimal(type)) {
    const decimal = `decimal(${digitsOf(type).join(', ')})`
    const sourceSql = `case when ${fitsSql(column, type)} then ${column} end as ${column}`
    return { name, sourceSql, type: decimal, targetSql: `cast(${column} as ${decimal})` }
  }
  if (type === 'bytea') {
    const sourceSql = `encode(${column}, 'hex') as ${column}`
    return { name, sourceSql, type: 'blob', targetSql: `unhex(${column})` }
  }
  if (type.endsWith('[]')) {
    const list = LISTS[type] ?? 'json'
    const targetSql = `cast(cast(${column} as json) as ${list})`
    return { name, sourceSql: `to_json(${column}) as ${column}`, type: list, targetSql }
  }
  return { name, sourceSql: column, type: 'varchar', targetSql: column }
}

function beyondDecimal(decimals: readonly CatalogColumn[]): LakeColumn {
  const originals = decimals.map(({ name, type }) => {
    const column = quoteIdentifier(name)
    const key = name.replaceAll(`'`, `''`)
    return `'${key}', case when not ${fitsSql(column, type)} then ${column}::text end`
  })
  // Most rows have none, and then nothing is built for them.
  const isAny = decimals.map(({ name, type }) => `not ${fitsSql(quoteIdentifier(name), type)}`)
  return {
    name: BEYOND_DECIMAL,
    sourceSql: `case
        when ${isAny.join(' or ')}
            then jsonb_strip_nulls(jsonb_build_object(${originals.join(', ')}))
    end as ${quoteIdentifier(BEYOND_DECIMAL)}`,
    type: 'json',
    targetSql: `cast(${quoteIdentifier(BEYOND_DECIMAL)} as json)`,
  }
}

function isDecimal(type: string): boolean {
  return type.startsWith('numeric') && !type.endsWith('[]')
}

/** Digits in all, and those after the point. */
function digitsOf(type: string): readonly [digits: number, places: number] {
  const [, digits, places] = /^numeric\((\d+),(\d+)\)$/.exec(type) ?? []
  const isBounded = digits !== undefined && Number(digits) <= DECIMAL_DIGITS
  if (!isBounded || Number(places) > Number(digits)) return [DECIMAL_DIGITS, DECIMAL_PLACES]
  return [Number(digits), Number(places)]
}

/** NaN and the infinities are larger than any number. */
function fitsSql(column: string, type: string): string {
  const [digits, places] = digitsOf(type)
  return `(abs(${column}) < 1e${digits - places} and ${column} = trunc(${column}, ${places}))`
}
