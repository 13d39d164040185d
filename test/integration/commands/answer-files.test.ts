import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { PassThrough } from 'node:stream'
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest'
import { runCli } from '../../../src/commands/program.js'
import { callCli, type CliCall } from '../../support/call-cli.js'
import { readCalendar } from '../../support/read-calendar.js'
import { readWorkbook } from '../../support/read-workbook.js'
import { readerSettings } from '../../support/test-database.js'
import { openLoadedWeek, type LoadedWeek } from '../../support/scenes/loaded-week.js'

let scene: LoadedWeek
let settings: Record<string, string>
let folder: string

beforeAll(async () => {
  scene = await openLoadedWeek()
  settings = {
    DATABASE_URL: scene.url,
    ...readerSettings(scene.url),
    TRACKING_MIGRATE: 'false',
    TRACKING_LOG_LEVEL: 'silent',
  }
})

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'answer-files-'))
  return () => rm(folder, { recursive: true, force: true })
})

afterAll(() => scene.close())

const query = (...args: string[]): Promise<CliCall> => callCli(['query', ...args], settings)

/** The file that the command wrote, and its message. */
async function write(name: string, ...args: string[]): Promise<{ bytes: Buffer; stderr: string }> {
  const out = join(folder, name)
  const { exitCode, stdout, stderr } = await query(...args, '--out', out)
  expect({ args, exitCode, stdout, stderr }).toMatchObject({ args, exitCode: 0, stdout: '' })
  return { bytes: await readFile(out), stderr: stderr.replaceAll(`${folder}/`, '') }
}

/** Standard output byte by byte. */
async function print(isTTY: boolean, ...args: string[]) {
  const streams = [new PassThrough(), new PassThrough()].map((stream) => {
    const chunks: Buffer[] = []
    stream.on('data', (chunk: Buffer) => chunks.push(chunk))
    const output = Object.assign(stream, { isTTY, columns: 80, rows: 24 })
    return { output: output as unknown as NodeJS.WriteStream, bytes: () => Buffer.concat(chunks) }
  })
  const [stdout, stderr] = streams as [(typeof streams)[0], (typeof streams)[0]]
  const exitCode = await runCli(['node', 'tracking-sync', 'query', ...args], {
    stdout: stdout.output,
    stderr: stderr.output,
    env: settings,
    cwd: () => folder,
    exit: (code) => {
      throw new Error(`exit(${code}) was called`)
    },
    on: () => undefined,
    off: () => undefined,
  })
  return { exitCode, bytes: stdout.bytes(), stderr: stderr.bytes().toString() }
}

it('writes own SQL as a workbook, into a pipe as well, and never to a terminal', async () => {
  const sql = `select 1.50 as n, 12345678901234567890 as large, '=1+1' as text, date '2026-03-01' as day,
      timestamptz '2026-03-01 09:00+01' as at, true as yes, array['a', 'b'] as list, null as none,
      repeat('x', 32768) as long`
  const rows = [
    ['n', 'large', 'text', 'day', 'at (UTC)', 'yes', 'list', 'none', 'long'],
    [
      1.5,
      '12345678901234567890',
      '=1+1',
      new Date('2026-03-01T00:00:00Z'),
      new Date('2026-03-01T08:00:00Z'),
      true,
      '{a,b}',
      null,
      'x'.repeat(32_767),
    ],
  ]
  const piped = await print(false, sql, '--format', 'xlsx')
  expect(piped).toMatchObject({
    exitCode: 0,
    stderr: expect.stringContaining('note: cut 1 text of the column long to 32,767') as string,
  })
  expect(readWorkbook(piped.bytes)).toMatchObject({ name: 'answer', hasFormulas: false, rows })
  const shown = await print(true, sql, '--format', 'xlsx')
  expect({ ...shown, bytes: shown.bytes.toString() }).toEqual({
    exitCode: 2,
    bytes: '',
    stderr: 'error: --format xlsx is not for a terminal; add --out and the name of a file\n',
  })
})

it('writes into a file what it prints elsewhere', { tags: ['release'] }, async () => {
  const sql = 'select n from generate_series(1, 1500) as n'
  const formats = ['table', 'csv', 'json', 'ndjson'].map((one) => ['--format', one])
  for (const format of [['--vertical'], ...formats]) {
    const { stdout } = await query(sql, ...format)
    expect((await write('answer', sql, ...format)).bytes.toString()).toBe(stdout)
  }
  const against = ['last_free_days', '--against', '2020-01-01', '--columns', 'container_number']
  const { bytes, stderr } = await write('came.xlsx', ...against, '--format', 'xlsx')
  const { rows } = readWorkbook(bytes)
  expect(rows[0]!.slice(0, 2)).toEqual(['change', 'container_number'])
  expect(new Set(rows.slice(1).map(([change]) => change))).toEqual(new Set(['came']))
  const days = await write('days.ics', 'last_free_days', '--format', 'ics')
  expect(readCalendar(days.bytes.toString()).length).toBeGreaterThan(2)
  expect(stderr).toContain(`note: wrote ${rows.length - 1} rows to came.xlsx\n`)
  expect((await query('last_free_days', '--against', '2020-01-01', '--format', 'ics')).stderr).toBe(
    'error: --against compares rows; ics has events, take csv\n',
  )
  expect((await query('last_free_days', '--columns', 'place', '--format', 'ics')).stderr).toContain(
    'note: --columns has no effect on ics; an event has columns of its own\n',
  )
  const book = await write('data_quality.xlsx', 'data_quality', '--excel', '--format', 'xlsx')
  expect(book.stderr).toContain('note: --excel has no effect on xlsx; it is for csv\n')
  expect(readWorkbook(book.bytes).name).toBe('data_quality')
})

it('writes no file for what is no answer', async () => {
  const out = join(folder, 'old.csv')
  await writeFile(out, 'old')
  for (const [args, problem] of [
    [['select 1 / (n - 1500) as n from generate_series(1, 3000) as n'], 'division by zero (22012)'],
    [[], '--out takes an answer; name a question, and leave --explain away'],
    [['data_quality', '--explain'], '--out takes an answer; name a question'],
  ] as const) {
    const { exitCode, stdout, stderr } = await query(...args, '--out', out)
    expect({ args, exitCode, stdout }).toEqual({ args, exitCode: 2, stdout: '' })
    expect(stderr).toContain(problem)
  }
  expect(await readdir(folder)).toEqual(['old.csv'])
  expect(await readFile(out, 'utf8')).toBe('old')
})
