import { execFileSync } from 'node:child_process'
import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, describe, expect, it, test } from 'vitest'

const ROOT = fileURLToPath(new URL('../..', import.meta.url))
const DIRECTORY = 'sql/migrations'

/** The first four make the schema of the first release; what comes later meets programs at work. */
const FIRST_EXPANDING = 5

/** Changes on which a running program of the previous version would fail or lose rows. */
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

/**
 * Narrowing changes that are allowed, and why they do not hurt a program of the previous version.
 */
const HARMLESS: ReadonlyMap<string, string> = new Map([
  [
    '0008_add_custom_field_definitions.sql adds a rule to a table that has rows',
    'the programs before read custom fields by a relation that the service does not have: no row',
  ],
  [
    '0012_add_reported_days_to_free_time_rules.sql adds a rule to a table that has rows',
    'it is of the new column alone: a program of before leaves its default, which the rule allows',
  ],
  [
    '0013_add_tariffs_of_the_world.sql adds a rule to a table that has rows',
    'of the program before only `rules import` writes these tables: it fails, and leaves the rules that there are',
  ],
  [
    '0015_add_payments_to_invoices.sql adds a rule to a table that has rows',
    'it is of the new columns alone: a program of before leaves them empty, which the rules allow',
  ],
  [
    '0011_drop_raw_event_ids.sql drops a column',
    'no release has it: a build before this one fails its batch, which leaves nothing behind, and the next run goes on from its checkpoint',
  ],
])

function contractionsIn(sqlText: string): string[] {
  const code = sqlText.replace(/--.*$/gm, '').replace(/'(?:[^']|'')*'/g, "''")
  return CONTRACTING.filter(([, pattern]) => pattern.test(code)).map(([name]) => name)
}

describe('migrations only expand', { tags: ['G4'] }, () => {
  const files = readdirSync(join(ROOT, DIRECTORY))
    .filter((name) => Number(name.slice(0, 4)) >= FIRST_EXPANDING && name.endsWith('.sql'))
    .sort()

  it('none since the fifth takes away or narrows what programs of the version before use', () => {
    const broken = files.flatMap((name) =>
      contractionsIn(readFileSync(join(ROOT, DIRECTORY, name), 'utf8')).map(
        (what) => `${name} ${what}`,
      ),
    )
    expect(
      broken.filter((one) => !HARMLESS.has(one)),
      'take it away one version after nothing uses it, and list the file here with the reason',
    ).toEqual([])
  })

  it.each([
    ['alter table {{data}}.ports drop column name;', ['drops a column']],
    [
      'alter table {{data}}.ports add column kind text not null;',
      ['adds a column that must be given'],
    ],
    ["alter table {{data}}.ports add column kind text not null default 'x';", []],
    ["comment on column {{data}}.ports.name is 'we rename and drop column';", []],
  ])('would be caught if one did: %s', (text, found) => {
    expect(contractionsIn(text)).toEqual(found)
  })
})

/**
 * A variable of a git command that runs this one names another repository: CI runs the tests from a
 * hook.
 */
const OUTSIDE = Object.fromEntries(
  Object.entries(process.env).filter(([name]) => !name.startsWith('GIT_')),
)

function git(repository: string, ...words: string[]): string {
  return execFileSync('git', ['-C', repository, ...words], { encoding: 'utf8', env: OUTSIDE })
}

/** Migrations of releases, that is of tags `v…`, that are no longer what the release shipped. */
function changedSinceRelease(repository: string): string[] {
  const releases = git(repository, 'tag', '--list', 'v*').split('\n').filter(Boolean)
  return releases.flatMap((tag) => {
    const names = git(repository, 'ls-tree', '--name-only', tag, `${DIRECTORY}/`)
      .split('\n')
      .filter((name) => name.endsWith('.sql'))
    return names
      .filter((name) => git(repository, 'show', `${tag}:${name}`) !== textOf(repository, name))
      .map((name) => `${name} is not what ${tag} has`)
  })
}

function textOf(repository: string, name: string): string | undefined {
  try {
    return readFileSync(join(repository, name), 'utf8')
  } catch {
    return undefined
  }
}

describe('migrations of a release', { tags: ['FG6'] }, () => {
  const copy = mkdtempSync(join(tmpdir(), 'tracking-sync-releases-'))
  afterAll(() => {
    rmSync(copy, { recursive: true, force: true })
  })

  test('stay as they are from the first tag on', () => {
    expect(changedSinceRelease(ROOT), 'put the change into a new migration').toEqual([])
  })

  test('an edited or lost one of a made-up release is told', () => {
    cpSync(join(ROOT, DIRECTORY), join(copy, DIRECTORY), { recursive: true })
    git(copy, 'init', '--quiet')
    git(copy, 'add', '.')
    const author = ['-c', 'user.name=nobody', '-c', 'user.email=nobody@localhost']
    git(copy, ...author, '-c', 'commit.gpgsign=false', 'commit', '--quiet', '-m', 'release')
    const [first = '', second = ''] = readdirSync(join(copy, DIRECTORY)).sort()
    const edited = join(copy, DIRECTORY, first)
    const asReleased = readFileSync(edited, 'utf8')

    writeFileSync(edited, `${asReleased}\n`)
    expect(changedSinceRelease(copy), 'no release: they may be made anew').toEqual([])
    git(copy, 'tag', '--no-sign', 'v0.1.0')
    rmSync(join(copy, DIRECTORY, second))
    writeFileSync(join(copy, DIRECTORY, '0099_of_tomorrow.sql'), 'select 1;')
    expect(changedSinceRelease(copy)).toEqual([
      `${DIRECTORY}/${first} is not what v0.1.0 has`,
      `${DIRECTORY}/${second} is not what v0.1.0 has`,
    ])
  })
})
