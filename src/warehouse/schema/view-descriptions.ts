/** The file beside the SQL of a view: the meaning of the view and its columns, and its question. */
export interface ViewDescription {
  readonly meaning: string
  /** In the order of the view. */
  readonly columns: readonly ViewColumn[]
  /** All members of the file, for the extension that answers questions. */
  readonly members: Readonly<Record<string, unknown>>
}

export interface ViewColumn {
  readonly name: string
  readonly meaning: string
}

interface Members {
  readonly view: string
  /** Names, separated by commas. */
  readonly columns: string
  readonly meanings?: Meanings
  /** The question of a view that had a name of its own before. */
  readonly askedAs?: string
}

type Meanings = Readonly<Record<string, string>>

/** Read once for all views. */
let common: { readonly text: string; readonly meanings: Meanings } | undefined

/**
 * Reads a description; `shared` is the text of `columns.yml`, with the meanings that it leaves out.
 * Throws for a column without a meaning, and for a meaning without a column.
 */
export async function readDescription(text: string, shared: string): Promise<ViewDescription> {
  const { parse } = await import('yaml')
  const members = parse(text) as Members
  const own = members.meanings ?? {}
  common = common?.text === shared ? common : { text: shared, meanings: parse(shared) as Meanings }
  const meanings = { ...common.meanings, ...own }
  const columns = namesOf(members.columns).map((name) => ({ name, meaning: meanings[name] ?? '' }))
  const names = columns.map(({ name }) => name)
  const faults = [
    ...columns.filter(({ meaning }) => meaning === '').map(({ name }) => name),
    ...Object.keys(own).filter((name) => !names.includes(name)),
  ]
  if (faults.length > 0)
    throw new Error(`"columns" or "meanings" lacks ${faults.join()} ("${members.view}")`)
  const asked = members.askedAs === undefined ? '' : ` Now asked as: ${members.askedAs}.`
  return { meaning: `${members.view}${asked}`, columns, members: { ...members } }
}

/** The names of a list that separates them by commas. */
export function namesOf(list = ''): string[] {
  return list.split(',').flatMap((name) => (name.trim() === '' ? [] : [name.trim()]))
}

/** The comments of a view and its columns as statements. */
export function commentsSql(target: string, { meaning, columns }: ViewDescription): string {
  const quoted = (text: string): string => `'${text.replaceAll("'", "''")}'`
  return [
    `comment on view ${target} is ${quoted(meaning)};`,
    ...columns.map((one) => `comment on column ${target}.${one.name} is ${quoted(one.meaning)};`),
  ].join('\n')
}
