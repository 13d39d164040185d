import { createHash } from 'node:crypto'
import { mkdtemp, readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { parse } from 'csv-parse/sync'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { callCli, type CliCall } from '../../support/call-cli.js'
import { closeScenes, HOUR, openScene, type Scene } from '../sync/sync-scene.js'
import { useFolder } from '../../support/temp-folder.js'

const HOLD = '<script>alert("customs")</script>'

let scene: Scene
const folder = useFolder('file')
let number: string
let containerId: string
let before: string

beforeAll(async () => {
  scene = await openScene()
  const { simulator } = scene
  await scene.sync({ command: 'backfill' })
  const [container] = await scene.query<{ container_id: string; number: string }>(
    `select container_id, container_number as number from tracking_analytics.container_stays
    where place = 'port' and state <> 'not_started' and binding_on is not null order by container_id limit 1`,
  )
  containerId = container!.container_id
  number = container!.number
  before = simulator.clock.now().toISOString()
  simulator.clock.advance(HOUR)
  simulator.edits.addHold(containerId, { name: HOLD, status: 'hold', description: null })
  await scene.sync({ command: 'sync' })
})

afterAll(closeScenes)

const write = (...args: string[]): Promise<CliCall> =>
  callCli(['evidence', ...args], {
    DATABASE_URL: scene.url,
    TRACKING_MIGRATE: 'false',
    TRACKING_LOG_LEVEL: 'silent',
  })

const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex')

const rowsOf = async (out: string, name: string): Promise<Record<string, string>[]> =>
  parse(await readFile(join(out, `${name}.csv`), 'utf8'), { columns: true })

it('writes every table and line with its digest', { tags: ['release'] }, async () => {
  const out = join(folder.path, 'a')
  // A line of another bill of lading belongs to no journey, and to the number all the same.
  await scene.query(
    `insert into tracking_analytics.dd_invoices (invoice_number, line_number, issuer, charge,
        container_number, bill_of_lading_number, charged_from_on, charged_to_on, amount, currency_code)
    values ('I', 1, 'Maersk', 'detention', $1, 'OTHER', '2026-01-01', '2026-01-02', 10, 'USD'),
      ('J', 1, 'Maersk', 'detention', $1, 'OTHER', '2026-01-01', '2026-01-02', 10, 'USD')`,
    number,
  )
  const alone = join(folder.path, 'alone')
  expect(await write(number, '--out', alone, '--invoice', 'N')).toMatchObject({
    exitCode: 2,
    stderr:
      `error: --invoice no line of the invoice N is for ${number}; ` +
      '`tracking-sync query invoices` lists all\n',
  })
  expect((await write(number, '--out', alone, '--invoice', 'j')).exitCode).toBe(0)
  expect(await rowsOf(alone, 'invoices')).toMatchObject([{ invoice_number: 'J' }])
  const { exitCode, stdout, stderr } = await write(` ${number.toLowerCase()}`, '--out', out)
  expect([exitCode, stderr]).toEqual([0, ''])
  expect(stdout).toContain(`What was known of ${number} at `)
  const sums = (await readFile(join(out, 'SHA256SUMS'), 'utf8')).trimEnd().split('\n')
  const names = sums.map((line) => line.slice(66))
  expect([...names, 'SHA256SUMS'].sort()).toEqual((await readdir(out)).sort())
  for (const line of sums) {
    expect(sha256(await readFile(join(out, line.slice(66)), 'utf8'))).toBe(line.slice(0, 64))
  }

  const versions = await rowsOf(out, 'versions')
  expect(new Set(versions.map(({ type }) => type))).toEqual(
    new Set(['container', 'shipment', 'transport event']),
  )
  const known = new Map(versions.map((row) => [row.sha256, row.said!]))
  for (const [digest, said] of known) expect(sha256(said)).toBe(digest)
  const lines = await rowsOf(out, 'known')
  const hold = lines.find(({ kind, subject }) => kind === 'hold' && subject === HOLD)
  expect(hold).toMatchObject({ value: 'hold', gone_at: '' })
  expect(known.get(hold!.version_sha256)).toContain('alert')
  // The others were valid before, in another version.
  const other = lines.find(({ kind }) => kind === 'last free day')
  expect(known.get(other!.version_sha256)).not.toContain('alert')

  expect(await rowsOf(out, 'invoices')).toMatchObject([
    { invoice_number: 'I', container_id: '', container_number: number },
    { invoice_number: 'J', container_id: '', container_number: number },
  ])

  const page = await readFile(join(out, 'index.html'), 'utf8')
  expect(page).toContain('&#60;script&#62;alert(&#34;customs&#34;)')
  expect(page).not.toMatch(/<script|src=|href=|url\(/)
  for (const name of names.filter((one) => one !== 'index.html')) expect(page).toContain(name)
})

it('writes the same bytes for an instant, known then', { tags: ['release'] }, async () => {
  const outs = ['b', 'c'].map((name) => join(folder.path, name))
  for (const out of outs) {
    expect((await write(containerId, '--out', out, '--as-of', before)).exitCode).toBe(0)
  }
  const [one, two] = await Promise.all(outs.map((out) => readFile(join(out, 'SHA256SUMS'), 'utf8')))
  expect(one).toBe(two)
  const lines = await rowsOf(outs[0]!, 'known')
  expect(lines.length).toBeGreaterThan(0)
  expect(lines.map(({ subject }) => subject)).not.toContain(HOLD)
})

it('leaves a folder with files as it is', async () => {
  const out = await mkdtemp(join(folder.path, 'full-'))
  await writeFile(join(out, 'mine.txt'), 'mine')
  expect(await write(number, '--out', out)).toMatchObject({
    exitCode: 2,
    stderr: `error: --out ${out} has files in it; name a folder that is new or empty\n`,
  })
  expect(await readdir(out)).toEqual(['mine.txt'])
})

it('says which container it needs', async () => {
  const out = join(folder.path, 'd')
  expect((await write(number, '--out', out, '--as-of', '2020-01-01')).stderr).toContain(
    'error: <container> was not known at 2020-01-01T00:00:00.000Z; name a later --as-of',
  )
  await scene.query(
    `update tracking.containers set number = $1 where container_id = (
      select container_id from tracking.containers where number <> $1 order by container_id limit 1
    )`,
    number,
  )
  await scene.query(
    `update tracking.container_history as version set number = container.number
    from tracking.containers as container where container.container_id = version.container_id`,
  )
  const { stderr } = await write(number, '--out', out)
  expect(stderr).toContain(`error: <container> ${number} was on 2 journeys; name the id of one:\n`)
  expect(stderr).toContain(`\n  ${containerId}  bill of lading `)
  await expect(readdir(out)).rejects.toThrow('ENOENT')
})
