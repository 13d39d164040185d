import pg from 'pg'
import { expect, it, onTestFinished } from 'vitest'
import { openLoadedWeek } from '../../support/scenes/loaded-week.js'

const OURS = { TimeZone: 'UTC', DateStyle: 'ISO, MDY', IntervalStyle: 'iso_8601' }
const HOSTILE = {
  TimeZone: 'America/Los_Angeles',
  DateStyle: 'German, DMY',
  IntervalStyle: 'postgres_verbose',
}

/**
 * A text of a value that is the same in every session: what may differ is how the session shows it.
 */
const EXPRESSIONS: Readonly<Record<string, (column: string) => string>> = {
  'timestamp with time zone': (column) => `extract(epoch from ${column})::text`,
  'timestamp without time zone': (column) => `to_char(${column}, 'YYYY-MM-DD HH24:MI:SS.US')`,
  date: (column) => `to_char(${column}, 'YYYY-MM-DD')`,
  interval: (column) => `extract(epoch from ${column})::text`,
}

interface Column {
  readonly view: string
  readonly column: string
  readonly type: string
}

it('no view depends on zone and date style of a reader', { tags: ['FA3', 'release'] }, async () => {
  const scene = await openLoadedWeek()
  onTestFinished(() => scene.close())
  const columns = await scene.query<Column>(
    `select table_schema || '.' || table_name as view, quote_ident(column_name) as column,
        data_type as type
    from information_schema.columns
    inner join information_schema.views using (table_schema, table_name)
    -- Views as of an instant are made of the same text; stored ones are the views until they are
    -- stored.
    where table_schema like 'tracking%'
      and table_schema not in ('tracking_as_of', 'tracking_stored')`,
  )
  const views = new Map<string, Column[]>()
  for (const column of columns) {
    const list = views.get(column.view)
    if (list === undefined) views.set(column.view, [column])
    else list.push(column)
  }
  expect(views.size).toBeGreaterThan(30)
  const client = new pg.Client({ connectionString: scene.url })
  await client.connect()
  try {
    // One transaction, so that both readings are of one instant.
    await client.query('begin isolation level repeatable read')
    const differing: string[] = []
    for (const [view, own] of views) {
      const digests = own.map(({ column, type }) => {
        const text = (EXPRESSIONS[type] ?? ((name: string) => `${name}::text`))(`one.${column}`)
        return `md5(string_agg(${text}, '|' order by ${text})) as ${column}`
      })
      const read = async (settings: Readonly<Record<string, string>>) => {
        for (const [name, value] of Object.entries(settings)) {
          await client.query('select set_config($1, $2, true)', [name, value])
        }
        const { rows } = await client.query<Record<string, string>>(
          `select ${digests.join(', ')} from ${view} as one`,
        )
        return rows[0] ?? {}
      }
      const [ours, theirs] = [await read(OURS), await read(HOSTILE)]
      for (const name of Object.keys(ours)) {
        if (ours[name] !== theirs[name]) differing.push(`${view}.${name}`)
      }
    }
    expect(differing).toEqual([])
  } finally {
    await client.end()
  }
})
