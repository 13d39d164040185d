import { readdirSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'

const DIRECTORY = fileURLToPath(new URL('../../sql/migrations/', import.meta.url))

/** Since then the tables are in use, also by programs that were started before an upgrade. */
const FIRST_EXPANDING = 8

/** What a program of the version before, in the middle of its work, would fail on or lose. */
const CONTRACTING: readonly (readonly [string, RegExp])[] = [
  ['drops a table', /^\s*drop table\b/m],
  ['drops a column', /\bdrop column\b/],
  ['renames', /\brename\b/],
  ['changes a type', /\balter column \w+ (?:set data )?type\b/],
  ['makes a column not null', /\bset not null\b/],
  ['adds a column that must be given', /\badd column (?![^,;]*\bdefault\b)[^,;]*\bnot null\b/],
  ['adds a rule to a table that has rows', /\badd constraint\b/],
  ['drops a function', /^\s*drop function\b/m],
]

function contractionsIn(sqlText: string): string[] {
  const code = sqlText.replace(/--.*$/gm, '').replace(/'(?:[^']|'')*'/g, "''")
  return CONTRACTING.filter(([, pattern]) => pattern.test(code)).map(([name]) => name)
}

describe('G4: migrations only expand', () => {
  const files = readdirSync(DIRECTORY)
    .filter((name) => Number(name.slice(0, 4)) >= FIRST_EXPANDING && name.endsWith('.sql'))
    .sort()

  it('G4: none since the eighth takes away or narrows what programs of the version before use', () => {
    expect(files.length).toBeGreaterThan(4)
    const broken = files.flatMap((name) =>
      contractionsIn(readFileSync(`${DIRECTORY}/${name}`, 'utf8')).map((what) => `${name} ${what}`),
    )
    expect(
      broken,
      'take it away one version after nothing uses it, and list the file here with the reason',
    ).toEqual([])
  })

  it('G4: would be caught if one did', () => {
    expect(contractionsIn('alter table {{data}}.ports drop column name;')).toEqual([
      'drops a column',
    ])
    expect(contractionsIn('alter table {{data}}.ports add column kind text not null;')).toEqual([
      'adds a column that must be given',
    ])
    expect(
      contractionsIn("alter table {{data}}.ports add column kind text not null default 'x';"),
    ).toEqual([])
    expect(
      contractionsIn("comment on column {{data}}.ports.name is 'we rename and drop column';"),
    ).toEqual([])
  })
})
