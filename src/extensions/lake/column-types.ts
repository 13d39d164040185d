import { quoteIdentifier } from '../../warehouse/connection/schema-names.js'

/** A column of PostgreSQL's catalogue. */
export interface CatalogColumn {
  readonly name: string
  /** The type as `format_type` writes it; for a domain, its base type. */
  readonly type: string
}

/** A column as a text from PostgreSQL, and as a type in the files. */
export interface LakeColumn {
  readonly name: string
  /** The expression that `copy` selects. */
  readonly sourceSql: string
  /** DuckDB's type, which decides Parquet's. */
  readonly type: string
  /** DuckDB's expression for the value, of the column of texts of the same name. */
  readonly targetSql: string
}

/**
 * For `numeric` without bounds: weights, coordinates, shares. 38 digits are what Parquet's readers
 * have in common.
 */
const DECIMAL_DIGITS = 38
const DECIMAL_PLACES = 18

/** Columns of money. A currency has at most four places (ISO 4217). */
const MONEY = /(?:^|_)(?:amount|daily_rate|minimum|cap)$/
const MONEY_DIGITS = 18
const MONEY_PLACES = 4

/**
 * The column with values that do not fit the type of the files: null in their own column, here as
 * PostgreSQL writes them.
 */
export const BEYOND_TYPE = '_beyond_type'

/** An infinite day or one before Christ becomes another day in some readers, an error in others. */
const DAYS = `between '0001-01-01' and '9999-12-31'`
const INSTANTS = `between '0001-01-01 00:00:00+00' and '9999-12-31 23:59:59.999999+00'`

/** The values of a type that the files can hold, as a condition behind the column. */
const RANGES: Readonly<Record<string, string>> = {
  date: DAYS,
  'timestamp with time zone': INSTANTS,
  'timestamp without time zone': INSTANTS,
  'time without time zone': `< '24:00'`,
}

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
 * The columns of a table in its files. A value without a common type in Parquet, such as a uuid, an
 * interval or a value of an enumeration, becomes a text as PostgreSQL writes it.
 */
export function toLakeColumns(columns: readonly CatalogColumn[]): LakeColumn[] {
  const bound = columns.flatMap((column) => {
    const fits = fitsSql(column)
    return fits === undefined ? [] : [{ name: column.name, fits }]
  })
  return [...columns.map(toLakeColumn), ...(bound.length === 0 ? [] : [beyondType(bound)])]
}

function toLakeColumn(catalogColumn: CatalogColumn): LakeColumn {
  const { name, type } = catalogColumn
  const column = quoteIdentifier(name)
  const fits = fitsSql(catalogColumn)
  const source = (valueSql: string): string =>
    fits === undefined
      ? `${valueSql} as ${column}`
      : `case when ${fits} then ${valueSql} end as ${column}`
  const simple = isDecimal(type) ? `decimal(${digitsOf(catalogColumn).join(', ')})` : SIMPLE[type]
  if (simple !== undefined) {
    const targetSql = `cast(${column} as ${simple})`
    return { name, sourceSql: source(column), type: simple, targetSql }
  }
  if (type === 'bytea') {
    const sourceSql = source(`encode(${column}, 'hex')`)
    return { name, sourceSql, type: 'blob', targetSql: `unhex(${column})` }
  }
  if (type.endsWith('[]')) {
    const list = LISTS[type] ?? 'json'
    const targetSql = `cast(cast(${column} as json) as ${list})`
    return { name, sourceSql: source(`to_json(${column})`), type: list, targetSql }
  }
  return { name, sourceSql: source(column), type: 'varchar', targetSql: column }
}

interface BoundColumn {
  readonly name: string
  /** Whether the files can hold its value. */
  readonly fits: string
}

/** A function of PostgreSQL takes a hundred arguments. */
const PAIRS_OF_A_CALL = 50

function beyondType(bound: readonly BoundColumn[]): LakeColumn {
  const originals = bound.map(({ name, fits }) => {
    const key = name.replaceAll(`'`, `''`)
    return `'${key}', case when not ${fits} then ${quoteIdentifier(name)}::text end`
  })
  const objects: string[] = []
  for (let at = 0; at < originals.length; at += PAIRS_OF_A_CALL) {
    objects.push(`jsonb_build_object(${originals.slice(at, at + PAIRS_OF_A_CALL).join(', ')})`)
  }
  // Most rows lack such values: nothing is built for them.
  return {
    name: BEYOND_TYPE,
    sourceSql: `case
        when ${bound.map(({ fits }) => `not ${fits}`).join(' or ')}
            then jsonb_strip_nulls(${objects.join(' || ')})
    end as ${quoteIdentifier(BEYOND_TYPE)}`,
    type: 'json',
    targetSql: `cast(${quoteIdentifier(BEYOND_TYPE)} as json)`,
  }
}

/** Whether the files can hold a value; undefined where they hold every one of its type. */
function fitsSql({ name, type }: CatalogColumn): string | undefined {
  const column = quoteIdentifier(name)
  const range = RANGES[type]
  if (range !== undefined) return `(${column} ${range})`
  // Rows of rows are not a list of numbers or texts; an empty list has zero dimensions.
  if (type in LISTS) return `(coalesce(array_ndims(${column}), 1) = 1)`
  return isDecimal(type) ? fitsDecimal({ name, type }) : undefined
}

function isDecimal(type: string): boolean {
  return type.startsWith('numeric') && !type.endsWith('[]')
}

/** Digits in all, and those after the point. */
function digitsOf({ name, type }: CatalogColumn): readonly [digits: number, places: number] {
  const [, digits, places] = /^numeric\((\d+),(\d+)\)$/.exec(type) ?? []
  const isBounded = digits !== undefined && Number(digits) <= DECIMAL_DIGITS
  if (!isBounded || Number(places) > Number(digits)) {
    return MONEY.test(name) ? [MONEY_DIGITS, MONEY_PLACES] : [DECIMAL_DIGITS, DECIMAL_PLACES]
  }
  return [Number(digits), Number(places)]
}

/** NaN and the infinities are larger than any number. */
function fitsDecimal(catalogColumn: CatalogColumn): string {
  const column = quoteIdentifier(catalogColumn.name)
  const [digits, places] = digitsOf(catalogColumn)
  return `(abs(${column}) < 1e${digits - places} and ${column} = trunc(${column}, ${places}))`
}
