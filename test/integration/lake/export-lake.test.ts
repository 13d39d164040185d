import { mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest'
import { readShippedQueries } from '../../../src/extensions/answers/questions/shipped-queries.js'
import { callCli, refusalOf, type CliCall } from '../../support/call-cli.js'
import { isOnCitus } from '../../support/distributed-database.js'
import { startStandInBucket, type StandInBucket } from '../../support/stand-in-bucket.js'
import { closeScenes, HOUR, openScene, type Scene } from '../sync/sync-scene.js'
import {
  asJavaScript,
  expectSame,
  filesIn,
  openLakeReader,
  readManifestOf,
  rowsOfFiles,
  rowsOfWarehouse,
} from './lake-scene.js'
import { useFolder } from '../../support/temp-folder.js'

let scene: Scene
const folder = useFolder('file')
let settings: Record<string, string>

let first: Report
beforeAll(async () => {
  scene = await openScene()
  settings = { DATABASE_URL: scene.url, TRACKING_MIGRATE: 'false', TRACKING_LOG_LEVEL: 'silent' }
  await scene.sync({ command: 'backfill' })
  scene.simulator.clock.advance(30 * HOUR)
  await scene.sync({ command: 'sync' })
  await putOddValues()
  first = await exported(join(folder.path, 'first'))
})

afterAll(async () => {
  await closeScenes()
})

const ODD_JSON =
  '{"large": 12345678901234567890.123, "huge": 1e400, "text": "\\u2028 é \\"quoted\\""}'

/** Values that a source may send and that are hard for CSV, decimals and JSON. */
async function putOddValues(): Promise<void> {
  await scene.run`
    update tracking.ports set latitude = 1e30, longitude = 0.1234567890123456789
    where port_id = (select min(port_id) from tracking.ports)`
  await scene.run`
    update tracking.containers
    set weight_in_lbs = 'NaN', ref_numbers = array['a"b', null, '', e'x\\r\\ny\\\\,{}', '\\N'],
        seal_number = '\\N', _unmapped = ${ODD_JSON}
    where container_id = (select min(container_id) from tracking.containers)`
  await scene.run`
    update tracking.containers
    set seal_number = '', weight_in_lbs = 99999999999999999999.999999999999999999
    where container_id = (select max(container_id) from tracking.containers)`
  await scene.run`
    update tracking.transport_events
    set created_at = '2025-12-31 23:59:59.999999+00', voyage_number = e' "; \\n', value = null
    where transport_event_id = (select min(transport_event_id) from tracking.transport_events)`
}

const exportTo = (out: string, ...args: string[]): Promise<CliCall> =>
  callCli(['export', 'parquet', '--json', '--out', out, ...args], settings)

interface Report {
  readonly export: number
  readonly tables: readonly { folder: string; wrote: string; rows: number; files: number }[]
}

/**
 * Other tests write on this server: what is not older than their open transactions would be written
 * again.
 */
async function waitForOthers(): Promise<void> {
  const xid = await scene.value<string>`select pg_current_xact_id()::text as xid`
  const isOver = async (): Promise<boolean | undefined> => {
    return scene.value<boolean>`
      select pg_snapshot_xmin(pg_current_snapshot()) > ${xid}::xid8 as "isOver"`
  }
  // A statement of another test may take half a minute.
  const isOverOnce = async (): Promise<void> => {
    expect(await isOver()).toBe(true)
  }
  await vi.waitFor(isOverOnce, { timeout: 60_000, interval: 100 })
}

async function exported(out: string, ...args: string[]): Promise<Report> {
  await waitForOthers()
  const { exitCode, stdout, stderr } = await exportTo(out, ...args)
  expect(exitCode, stderr).toBe(0)
  return JSON.parse(stdout) as Report
}

describe('the first export', { tags: ['L3'] }, () => {
  it('holds every value of all answers, for two readers', { tags: ['release'] }, async () => {
    const { tables } = first
    const out = join(folder.path, 'first')
    const count = (kind: string) => tables.filter(({ folder }) => folder.startsWith(kind)).length
    expect([count('tables/'), count('answers/')]).toEqual([
      30,
      (await readShippedQueries(scene.warehouse.names)).length,
    ])
    expect(tables.filter(({ wrote }) => wrote !== 'all')).toEqual([])
    await expectSame(scene.warehouse, out)
    // Answers of the clock are others a moment later; these are not.
    const manifest = await readManifestOf(out)
    const reader = await openLakeReader(out)
    const steady = ['charged_days', 'journey', 'transshipments', 'carriers']
    for (const name of steady) {
      const table = manifest.tables.find(({ folder }) => folder === `answers/${name}`)!
      expect(await reader.latest(table)).toEqual(await rowsOfWarehouse(scene.warehouse, table))
    }
    for (const table of manifest.tables.filter(({ folder }) => folder.startsWith('tables'))) {
      const expected = asJavaScript(await rowsOfWarehouse(scene.warehouse, table), table)
      const found = asJavaScript(await rowsOfFiles(out, table), table)
      expect({ [table.folder]: found }).toEqual({ [table.folder]: expected })
    }
  })

  it('has columns of the types of the warehouse', { tags: ['release'] }, async () => {
    const reader = await openLakeReader(join(folder.path, 'first'))
    const columns = ['weight_in_lbs', '_changed_at', '_unmapped']
    const types = columns.map((column) => `typeof(${column}) as ${column}`).join()
    expect(await reader.run(`select ${types} from containers limit 1`)).toEqual([
      {
        weight_in_lbs: 'DECIMAL(38,18)',
        _changed_at: 'TIMESTAMP WITH TIME ZONE',
        _unmapped: 'JSON',
      },
    ])
  })

  it('parts tables by month of creation and answers by day', async () => {
    const files = await filesIn(join(folder.path, 'first'))
    expect(files).toContain('tables/transport_events/created_month=2025-12/export-00000001.parquet')
    const today = new Date().toISOString().slice(0, 10)
    expect(files).toContain(`answers/last_free_days/exported_on=${today}/export-00000001.parquet`)
    expect(files.filter((path) => path.includes('/containers/')).length).toBeGreaterThan(0)
  })
})

describe('the next export', { tags: ['L2'] }, () => {
  let out: string
  beforeAll(async () => {
    out = join(folder.path, 'next')
    await exported(out, '--only', 'tables')
  })

  // Of a distributed warehouse every table is written whole.
  it.skipIf(isOnCitus)('writes nothing while nothing changed', async () => {
    const before = await filesIn(out)
    const { tables } = await exported(out, '--only', 'tables')
    expect(tables.filter(({ wrote }) => wrote !== 'nothing')).toEqual([])
    expect(await filesIn(out)).toEqual(before)
  })

  it.skipIf(isOnCitus)('writes the rows that changed alone', { tags: ['release'] }, async () => {
    const [first, second, third] = await scene.rows<{ container_id: string }>`
      select container_id from tracking.containers order by container_id limit 3`
    const change = (set: string, id: string) =>
      scene.query(`update tracking.containers set ${set} where container_id = $1`, id)
    await change('_deleted_at = now(), _changed_at = now()', first!.container_id)
    // Not material, so that _changed_at stays; and one with a stamp of long ago.
    await change(`_observed_at = now()`, second!.container_id)
    await change(`seal_number = 'late', _changed_at = '2020-01-01'`, third!.container_id)
    const { tables } = await exported(out, '--only', 'tables')
    const written = tables.filter(({ wrote }) => wrote !== 'nothing')
    expect(written).toMatchObject([{ folder: 'tables/containers', wrote: 'changes', rows: 3 }])
    await expectSame(scene.warehouse, out)
  })

  it('takes rows of a transaction open at the last export', { tags: ['release'] }, async () => {
    const { client } = await scene.warehouse.another('stay open')
    await client.query('begin')
    const { rows } = await client.query<{ vessel_id: string }>(
      `update tracking.vessels set name = 'open'
      where vessel_id = (select min(vessel_id) from tracking.vessels) returning vessel_id`,
    )
    await scene.run`
      update tracking.vessels set name = 'between' where vessel_id > ${rows[0]!.vessel_id}`
    expect(await exportTo(out, '--only', 'vessels')).toMatchObject({ exitCode: 0 })
    await client.query('commit')
    await client.end()
    await exported(out, '--only', 'vessels')
    await expectSame(scene.warehouse, out, 'vessels')
  })

  it('writes a table whole where rows went', { tags: ['release'] }, async () => {
    await scene.run`
      delete from tracking.container_import_deadlines
      where container_id = (select min(container_id) from tracking.container_import_deadlines)`
    const { tables } = await exported(out, '--only', 'container_import_deadlines')
    expect(tables).toMatchObject([{ wrote: 'all', files: 1 }])
    const files = (await filesIn(out)).filter((path) => path.includes('container_import_deadlines'))
    expect(files.length).toBe(1)
    await expectSame(scene.warehouse, out, 'container_import_deadlines')
  })

  it.skipIf(isOnCitus)('writes a table whole that outgrew', { tags: ['release'] }, async () => {
    const whole = async (): Promise<Report['tables'][number]['wrote']> => {
      const { tables } = await exported(out, '--only', 'terminals')
      return tables[0]!.wrote
    }
    const touch = () => scene.rows`update tracking.terminals set nickname = nickname || '.'`
    await touch()
    expect(await whole()).toBe('changes')
    await touch()
    expect(await whole()).toBe('all')
    const own = (await filesIn(out)).filter((path) => path.includes('tables/terminals/'))
    await rm(join(out, own[0]!))
    expect(await whole()).toBe('all')
    expect((await exported(out, '--only', 'terminals', '--whole')).tables[0]!.wrote).toBe('all')
    await expectSame(scene.warehouse, out, 'terminals')
  })
})

describe('a folder', { tags: ['L4'] }, () => {
  const refused = (out: string, ...args: string[]) => refusalOf(exportTo(out, ...args))

  it('of something else is refused and stays as it is', async () => {
    const out = join(folder.path, 'mine')
    await mkdir(join(out, 'tables'), { recursive: true })
    await writeFile(join(out, 'tables', 'export-1.parquet'), 'mine')
    await mkdir(join(out, '.work'))
    await writeFile(join(out, '.work', 'notes'), 'mine')
    expect(await refused(out)).toMatch(/^2 .*has files but no manifest\/manifest.json/)
    expect((await readdir(out, { recursive: true })).sort()).toEqual([
      '.work',
      join('.work', 'notes'),
      'tables',
      join('tables', 'export-1.parquet'),
    ])
  })

  it('is no address, no file, and lies in a folder that exists', async () => {
    expect(await refused('az://bucket/lake')).toMatch(/^2 .*copy that to az:\/\/ as docs\/lake.md/)
    expect(await refused(join(folder.path, 'not', 'there'))).toContain('make that first')
    await writeFile(join(folder.path, 'file'), '')
    expect(await refused(join(folder.path, 'file'))).toContain('ENOTDIR')
    expect(await refused(join(folder.path, 'new'), '--only', 'container')).toContain(
      'container is not a table or answer of the warehouse; did you mean container_changes?',
    )
    expect(await readdir(folder.path)).not.toContain('new')
  })

  it('is written by one export at a time', async () => {
    const { client } = await scene.warehouse.another('export')
    await client.query(`select pg_advisory_lock(820316, hashtext('tracking_sync'))`)
    // Of the one that is running.
    const out = join(folder.path, 'busy')
    await mkdir(join(out, '.work'), { recursive: true })
    const refusal = await refused(out)
    await client.end()
    expect(await readdir(out)).toEqual(['.work'])
    expect(refusal).toBe('7 error: another export of tracking is running; wait until it is done\n')
  })
})

const SECRET = 'a-secret-of-the-store'
const MANIFEST = 'manifest/manifest.json'
const FEW = ['--only', 'ports', '--only', 'custom_fields', '--only', 'data_quality']

describe('an export into a bucket', { tags: ['L5'] }, () => {
  const own = useFolder('file')
  let bucket: StandInBucket
  let keys: Record<string, string>

  beforeAll(async () => {
    bucket = await startStandInBucket()
    keys = {
      AWS_ENDPOINT_URL_S3: bucket.url,
      AWS_ACCESS_KEY_ID: 'known',
      AWS_SECRET_ACCESS_KEY: SECRET,
      AWS_CONFIG_FILE: join(own.path, 'none'),
      AWS_SHARED_CREDENTIALS_FILE: join(own.path, 'none'),
      AWS_EC2_METADATA_DISABLED: 'true',
      TMPDIR: own.path,
    }
  })

  afterEach(() => {
    vi.unstubAllEnvs()
    bucket.fault = () => undefined
  })

  afterAll(() => bucket.close())

  /** The library reads the environment of its process by itself. */
  async function send(out: string, env: Record<string, string> = {}): Promise<CliCall> {
    const all = { ...keys, ...env }
    for (const [name, value] of Object.entries(all)) vi.stubEnv(name, value)
    const call = await callCli(['export', 'parquet', '--out', out, ...FEW], { ...settings, ...all })
    expect(call.stdout + call.stderr).not.toContain(SECRET)
    return call
  }

  async function expectComplete(prefix: string): Promise<void> {
    const folder = await mkdtemp(join(own.path, 'copy-'))
    await bucket.copyTo(folder, prefix)
    await expectSame(scene.warehouse, folder)
    const { files } = await readManifestOf(folder)
    expect(await filesIn(folder)).toEqual(files.map(({ path }) => path).sort())
    await rm(folder, { recursive: true })
    expect(await readdir(own.path)).toEqual([])
  }

  it('is whole, then what changed; the manifest comes last', { tags: ['release'] }, async () => {
    expect(await send('s3://lake/whole/')).toMatchObject({ exitCode: 0 })
    await expectComplete('whole/')
    await scene.run`update tracking.ports set name = 'changed' where name like '%a%'`
    bucket.requests.length = 0
    const { exitCode, stdout } = await send('s3://lake/whole')
    expect([exitCode, stdout.replace(/at .*: \d+/, 'at …: …')]).toEqual([
      0,
      expect.stringMatching(/^Export 2 of s3:\/\/lake\/whole shows the warehouse at …: … rows in /),
    ])
    const put = bucket.requests.filter((one) => one.startsWith('PUT'))
    expect(put.length).toBeGreaterThan(2)
    expect(put.at(-1)).toBe(`PUT whole/${MANIFEST}`)
    await expectComplete('whole/')
  })

  it('sends again what did not arrive', { tags: ['release'] }, async () => {
    const failed = new Set<string>()
    bucket.fault = (method, key) => {
      const isFirst = !failed.has(`${method} ${key}`)
      if (!isFirst || !/ports|manifest/.test(key)) return undefined
      failed.add(`${method} ${key}`)
      return key.includes('ports') ? 'hang up' : { status: 503, code: 'SlowDown' }
    }
    expect((await send('s3://lake/again')).exitCode).toBe(0)
    expect([...failed].filter((one) => one.startsWith('PUT'))).toHaveLength(2)
    await expectComplete('again/')
  })

  it('that cannot be completed says why and shows the last', { tags: ['release'] }, async () => {
    await send('s3://lake/denied')
    const before = new Map(bucket.objects)
    await scene.run`update tracking.ports set name = 'denied'`
    bucket.fault = (method, key) =>
      method === 'PUT' && key.includes('ports') ? { status: 403, code: 'AccessDenied' } : undefined
    expect(await refusalOf(send('s3://lake/denied'))).toBe(
      '2 error: --out s3://lake/denied is not open to these keys (AccessDenied); allow them ' +
        's3:ListBucket of the bucket, and s3:GetObject, s3:PutObject and s3:DeleteObject below ' +
        'the folder\n',
    )
    expect(bucket.objects).toEqual(before)
    expect(await readdir(own.path)).toEqual([])
  })

  const REFUSED: [string, Record<string, string>, string][] = [
    ['s3://other/lake', {}, 'has no such bucket; make it first'],
    ['s3://lake/a', { AWS_ACCESS_KEY_ID: 'else' }, 'look at AWS_ACCESS_KEY_ID'],
    ['s3://lake/a', { AWS_ACCESS_KEY_ID: '', AWS_SECRET_ACCESS_KEY: '' }, 'needs keys; set AWS_'],
    ['s3://lake/a', { AWS_ENDPOINT_URL_S3: '' }, 'needs AWS_REGION'],
    ['s3://lake/a', { AWS_ENDPOINT_URL_S3: 'http://127.0.0.1:1' }, 'be used now (ECONNREFUSED)'],
    ['s3://', {}, 'is s3://; it must be s3://<bucket>/<folder>'],
  ]
  it.each(REFUSED)('refuses %s, %j', { tags: ['release'] }, async (out, env, sentence) => {
    const refusal = await refusalOf(send(out, env))
    expect(refusal).toMatch(/^2 /)
    expect(refusal).toContain(sentence)
  })

  it('refuses a place with anything else in it, which stays as it is', async () => {
    bucket.objects.set('mine/', Buffer.alloc(0))
    bucket.objects.set('mine/tables/export-1.parquet', Buffer.from('mine'))
    expect((await send('s3://lake/mine')).stderr).toContain('has files but no manifest')
    bucket.objects.delete('mine/tables/export-1.parquet')
    expect((await send('s3://lake/mine')).exitCode).toBe(0)
    const manifest = bucket.objects.get(`mine/${MANIFEST}`)!.toString()
    bucket.objects.set(`mine/${MANIFEST}`, Buffer.from(manifest.replace(/"id":"\w+"/, '"id":"o"')))
    expect((await send('s3://lake/mine')).stderr).toContain('holds the warehouse tracking of')
    bucket.objects.set(`mine/${MANIFEST}`, Buffer.from(manifest.slice(0, 100)))
    expect((await send('s3://lake/mine')).stderr).toContain('that this program did not write')
  })
})
