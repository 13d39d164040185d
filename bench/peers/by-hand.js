import { resources } from '../../dist/source/records/index.js'

/**
 * The parts of the loads by hand, made from the columns that our own tables have, so that all store
 * the same values: a program for jq that writes the link of the next page and then a line of
 * tab-separated values for each record, after the name of its table; SQL with which psql upserts
 * them; and commands with which pgloader inserts them.
 */
const TYPES = {
  shipment: 'shipments',
  container: 'containers',
  transport_event: 'transport_events',
}

/** By table: the columns, each with its type and the expression that finds it in a record. */
export const COLUMNS = Object.fromEntries(
  Object.keys(TYPES).map((type) => {
    const resource = resources.find((one) => one.type === type)
    const attributes = [...resource.attributes].map(([name, spec]) => ({
      name,
      type: spec.type,
      path: `.attributes.${name}`,
    }))
    const relationships = [...resource.relationships]
      .filter(([, { kind }]) => kind === 'one')
      .map(([name]) => ({
        name: `${name}_id`,
        type: 'text',
        path: `.relationships.${name}.data.id`,
      }))
    const id = { name: 'id', type: 'text', path: '.id' }
    return [TYPES[type], [id, ...attributes, ...relationships].filter(isFirstOfItsName)]
  }),
)

function isFirstOfItsName({ name }, at, columns) {
  return columns.findIndex((column) => column.name === name) === at
}

export function jqProgram() {
  const branches = Object.entries(TYPES).map(([type, table]) => {
    const values = COLUMNS[table].map(asText).join(', ')
    return `if .type == "${type}" then ["${table}", ${values}]`
  })
  return `def record: ${branches.join('\nel')}\nelse empty end;
(.links.next // ""), ((.data[], .included[]?) | record | @tsv)`
}

/** What is missing becomes an empty value, which is read as null; so an empty text does, too. */
function asText({ type, path }) {
  switch (type) {
    case 'jsonb':
      return `(${path} | if . == null then null else tojson end)`
    case 'text[]':
      return `(${path} | if . == null then null else "{" + (map(tojson) | join(",")) + "}" end)`
    case 'text':
    case 'timestamptz':
    case 'date':
      return path
    default:
      return `(${path} | if . == null then null else tostring end)`
  }
}

export function tablesSql() {
  return Object.entries(COLUMNS)
    .map(([table, columns]) => {
      const list = columns.map(({ name, type }) => `"${name}" ${type}`).join(', ')
      return `create table public.${table} (${list}, primary key (id));`
    })
    .join('\n')
}

/** One COPY of everything into a table beside, then one upsert. */
export function mergeSql(directory) {
  const merges = Object.entries(COLUMNS).map(([table, columns]) => {
    const names = columns.map(({ name }) => `"${name}"`)
    const values = names.filter((name) => name !== '"id"')
    return `create temporary table fresh_${table} (like public.${table});
\\copy fresh_${table} from '${directory}/${table}.tsv' with (null '')
analyze fresh_${table};
insert into public.${table} (${names.join(', ')})
select distinct on (id) ${names.join(', ')} from fresh_${table} order by id
on conflict (id) do update set ${values.map((name) => `${name} = excluded.${name}`).join(', ')};`
  })
  return merges.join('\n')
}

/** A command a table, each for a run of pgloader of its own: it can insert, and cannot upsert. */
export function pgloaderCommands(directory, databaseUrl) {
  const url = new URL(databaseUrl)
  url.password = ''
  return Object.entries(COLUMNS).map(([table, columns]) => {
    const names = columns.map(({ name }) => `"${name}"`).join(', ')
    return `load copy from '${directory}/${table}.tsv' (${names})
into ${url.href.replace(/^postgres:/, 'postgresql:')} target table public.${table} (${names})
with drop indexes, null '';`
  })
}
