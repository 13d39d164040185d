import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest'
import type { Simulator } from '../../src/extensions/simulator/server.js'
import { callProgram, settingsOf, wordsOf } from '../support/call-cli.js'
import { makeFreshHome, makePreparedHome, removeFreshHomes } from '../support/fresh-home.js'
import {
  endPrograms,
  repositoryDirectory,
  runCli,
  startCli,
  startProgram,
} from '../support/run-cli.js'
import type { ProgramOptions, ProgramResult } from '../support/run-cli.js'
import { startSameWorld } from '../support/simulate-cli.js'
import { createTestDatabase, readerSettings, type TestDatabase } from '../support/test-database.js'

let simulator: Simulator
let database: TestDatabase
let options: ProgramOptions

beforeAll(async () => {
  simulator = await startSameWorld({ apiKey: 'canary/key+5d1b=' })
  database = await createTestDatabase({ template: inject('migratedDatabase') })
  const { directory } = await makeFreshHome()
  const env = {
    ...settingsOf(simulator, database.url),
    ...readerSettings(database.url),
    TRACKING_RATE_LIMIT_PER_MINUTE: '100000',
    TRACKING_LOG_FORMAT: 'text',
    TRACKING_LOG_LEVEL: 'error',
  }
  options = { directory, env }
  expect(await runCli(['backfill'], options)).toMatchObject({ exitCode: 0 })
})

afterAll(async () => {
  await endPrograms()
  await simulator.close()
  await database.drop()
  await removeFreshHomes()
})

/** A line of a shell in which `ours` is the built program. */
function shell(line: string): Promise<ProgramResult> {
  const program = 'ours() { node "$0/dist/program/cli.js" "$@"; }'
  return startProgram('sh', ['-c', `${program}\n${line}`, repositoryDirectory], options).ended
}

const MANY_ROWS = 'query "select * from generate_series(1, 20000)"'

describe.concurrent('output that cannot be written', { tags: ['FD2'] }, () => {
  test.each(['sync --json', `${MANY_ROWS} --format ndjson`])(
    '%s > /dev/full ends with 8',
    { tags: ['release'] },
    async (args) => {
      const { exitCode, stderr } = await shell(`ours ${args} > /dev/full`)
      expect(stderr).toMatch(/^error: standard output could not be written.* ENOSPC: .*$/m)
      expect(exitCode).toBe(8)
    },
  )

  test('leaves a worse exit code as it is', { tags: ['release'] }, async () => {
    const { exitCode } = await shell('export TRACKING_API_KEY=wrong; ours check > /dev/full')
    expect(exitCode).toBe(3)
  })

  test('is whole at the end of a pipe', async () => {
    const piped = `${MANY_ROWS} --format csv | (read first; wc -l)`
    expect(await shell(`ours ${piped}`)).toMatchObject({
      exitCode: 0,
      stdout: expect.stringMatching(/^ *20000\n$/) as string,
      stderr: '',
    })
  })

  test.each(['config', `${MANY_ROWS} --format ndjson`])(
    'is no error where the reader has gone: %s | head -n 1',
    { tags: ['X4', 'release'] },
    async (args) => {
      const line = `{ ours ${args}; echo "ended with $?" >&2; } | head -n 1`
      const { stdout, stderr } = await shell(line)
      expect(stderr).toBe('ended with 0\n')
      expect(stdout).toMatch(/^.+\n$/)
    },
  )

  // One sync at a time.
  test('and may be gone at the start', { tags: ['X4'], concurrent: false }, async () => {
    const { stdout } = await shell('(ours sync <&- >&- 2>&-); echo "ended with $?"')
    expect(stdout).toBe('ended with 0\n')
  })
})

const NEEDS_IDS = /needs ids of notifications, or --state, .* or --all alone/
const NEEDS_VALUE = /needs the new value either as its third argument or in --json-value/
const timelineOf = (schema: string): string => `select count(*) from ${schema}.timeline`

describe('wrong usage', () => {
  test.each([
    ['--nope', /unknown option '--nope'/],
    ['nope', /unknown command 'nope'/],
    ['sync extra', /too many arguments/],
    ['sync --rate-limit 0', /TRACKING_RATE_LIMIT_PER_MINUTE must be a whole number/],
    ['query pickups --format xml', /Allowed choices are table, csv, json/],
    ['sync --config nofile.json', /nofile\.json does not exist/],
    ['query pickups --limit -1', /'--limit <value>' argument '-1'/],
    ['query pickups --since 2026-13-01', /'--since <value>' argument '2026-13-01'/],
    ['query pickups --as-of 2026-02-30', /'--as-of <instant>' argument '2026-02-30'/],
    [
      'query "select 1 from elsewhere.costs"',
      /refused by PostgreSQL: .* views in \w+_analytics and/,
    ],
    ['query hold_durations', /asked by another name: `tracking-sync query timeline --kind hold`/],
    ['query pikcups', /pikcups is not one of the questions; did you mean pickups\?/],
    ['query "select 1 as one" --terminal x', /--terminal/],
    [
      `query "${timelineOf('tracking_analytics')}" --as-of 2026-03-01`,
      /names \w+_analytics.timeline/,
    ],
    [`query "${timelineOf('tracking_stored')}" --as-of 2026-03-01`, /names \w+_stored.timeline/],
    ['query pickups --against 2020-01-01 --format ics', /--against compares rows; ics has events/],
    ['evidence NONE --out x', /<container> .* container "NONE"/],
    ['query --out x.csv', /--out takes an answer; name a question, and leave --explain away/],
    ['webhooks replay', NEEDS_IDS],
    ['webhooks replay --all --state dead', NEEDS_IDS],
    ['webhooks replay --since 2026-02-30', /'--since <time>' argument '2026-02-30'/],
    ['quarantine show 0', /argument 'id'/],
    [
      'quarantine drop',
      /numbers of entries are missing: give those that `quarantine list` shows, or --all/,
    ],
    ['quarantine drop 1 --all', /--all already takes every entry; /],
    ['quarantine drop 1 --stream ports', /--stream works only with --all/],
    ['custom-fields set no-such-container priority x', /lacks the container .*; check both\. /],
    ['custom-fields set x priority', NEEDS_VALUE],
    ['custom-fields set x priority --json-value {', /'--json-value <json>' argument '\{'/],
    ['database distribute --by moon', /is moon; it must be schema/],
    ['database stop', /DATABASE_URL is set, so the embedded database is not used/],
    ['check --api-url http://127.0.0.1:1', /TRACKING_API_URL must end with the version segment/],
    ['status --schema Bad', /TRACKING_SCHEMA must be/],
  ])('ends with 2: %s', { tags: ['FD8'] }, async (args, said) => {
    const { exitCode, stdout, stderr } = await callProgram(wordsOf(args), options)
    expect(stderr).toMatch(said)
    expect(stderr.trimEnd().split('\n')).toHaveLength(1)
    expect({ exitCode, stdout }).toEqual({ exitCode: 2, stdout: '' })
  })

  test.each([
    ['syncs', /^error: unknown command 'syncs'\n\(Did you mean sync\?\)\n$/],
    ['', /^Usage: tracking-sync /],
    ['database', /^Usage: tracking-sync database /],
  ])('ends with 2, and says what there is: %s', async (args, said) => {
    const { exitCode, stdout, stderr } = await callProgram(wordsOf(args), options)
    expect(stderr).toMatch(said)
    expect({ exitCode, stdout }).toEqual({ exitCode: 2, stdout: '' })
  })
})

test('one demo at a time in one database', { tags: ['FD10', 'release'] }, async () => {
  const { directory } = await makePreparedHome()
  const demo = ['demo', '--shipments', '20']
  const first = await startCli(demo, { directory })
  await first.waitFor(({ stdout }) => stdout().includes('backfill:'))
  const second = await runCli(demo, { directory })
  expect(second.stderr).toMatch(/^error: another demo runs in this database; .* --home\n$/)
  expect(second.exitCode).toBe(7)
  const { exitCode, stdout } = await first.ended
  expect(exitCode).toBe(0)
  expect(stdout).toContain('the embedded PostgreSQL of .tracking-sync ')
})
