import { mkdtemp, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest'
import { callCli, type CliCall } from '../../support/call-cli.js'
import { runCli } from '../../support/run-cli.js'
import { startStandInBucket, type StandInBucket } from '../../support/stand-in-bucket.js'
import { closeScenes, openScene, type Scene } from '../sync/sync-scene.js'
import { expectSame, filesIn, readManifestOf } from './lake-scene.js'

const SECRET = 'a-secret-of-the-store'
const MANIFEST = 'manifest/manifest.json'
const FEW = ['--only', 'ports', '--only', 'custom_fields', '--only', 'data_quality']

let scene: Scene
let directory: string
let bucket: StandInBucket
let settings: Record<string, string>
let keys: Record<string, string>

beforeAll(async () => {
  scene = await openScene()
  bucket = await startStandInBucket()
  directory = await mkdtemp(join(tmpdir(), 'lake-bucket-'))
  settings = { DATABASE_URL: scene.url, TRACKING_MIGRATE: 'false', TRACKING_LOG_LEVEL: 'silent' }
  keys = {
    AWS_ENDPOINT_URL_S3: bucket.url,
    AWS_ACCESS_KEY_ID: 'known',
    AWS_SECRET_ACCESS_KEY: SECRET,
    AWS_CONFIG_FILE: join(directory, 'none'),
    AWS_SHARED_CREDENTIALS_FILE: join(directory, 'none'),
    AWS_EC2_METADATA_DISABLED: 'true',
    TMPDIR: directory,
  }
  await scene.sync({ command: 'backfill' })
})

afterEach(() => {
  vi.unstubAllEnvs()
  bucket.fault = () => undefined
})

afterAll(async () => {
  await closeScenes()
  await bucket.close()
  await rm(directory, { recursive: true, force: true })
})

/** The library reads the environment of its process by itself. */
async function exportTo(out: string, env: Record<string, string> = {}): Promise<CliCall> {
  const all = { ...keys, ...env }
  for (const [name, value] of Object.entries(all)) vi.stubEnv(name, value)
  const call = await callCli(['export', 'parquet', '--out', out, ...FEW], { ...settings, ...all })
  expect(call.stdout + call.stderr).not.toContain(SECRET)
  return call
}

async function expectComplete(prefix: string): Promise<void> {
  const folder = await mkdtemp(join(directory, 'copy-'))
  await bucket.copyTo(folder, prefix)
  await expectSame(scene.warehouse, folder)
  const { files } = await readManifestOf(folder)
  expect(await filesIn(folder)).toEqual(files.map(({ path }) => path).sort())
  await rm(folder, { recursive: true })
  expect(await readdir(directory)).toEqual([])
}

describe('an export into a bucket', { tags: ['L5'] }, () => {
  it('is whole, then what changed; the manifest comes last', { tags: ['release'] }, async () => {
    expect(await exportTo('s3://lake/whole/')).toMatchObject({ exitCode: 0 })
    await expectComplete('whole/')
    await scene.run`update tracking.ports set name = 'changed' where name like '%a%'`
    bucket.requests.length = 0
    const { exitCode, stdout } = await exportTo('s3://lake/whole')
    expect([exitCode, stdout.replace(/at .*: \d+/, 'at …: …')]).toEqual([
      0,
      expect.stringMatching(/^Export 2 of s3:\/\/lake\/whole shows the warehouse at …: … rows in /),
    ])
    const put = bucket.requests.filter((one) => one.startsWith('PUT'))
    expect(put.length).toBeGreaterThan(2)
    expect(put.at(-1)).toBe(`PUT whole/${MANIFEST}`)
    await expectComplete('whole/')
  })

  it('that is killed shows the one before; the next completes', { tags: ['release'] }, async () => {
    await exportTo('s3://lake/killed')
    const before = bucket.objects.get(`killed/${MANIFEST}`)
    await scene.run`update tracking.ports set name = 'killed'`
    const killed = await runCli(['export', 'parquet', '--out', 's3://lake/killed', ...FEW], {
      directory,
      env: { ...settings, ...keys, TRACKING_FAILPOINT: 'lake_files_placed' },
    })
    expect(killed).toMatchObject({ signal: 'SIGKILL', stdout: '' })
    expect(bucket.objects.get(`killed/${MANIFEST}`)).toEqual(before)
    const second = [...bucket.objects.keys()].filter((key) => key.includes('export-00000002'))
    expect(second.length).toBeGreaterThan(0)
    expect((await exportTo('s3://lake/killed')).exitCode).toBe(0)
    await expectComplete('killed/')
  })

  it('sends again what did not arrive', { tags: ['release'] }, async () => {
    const failed = new Set<string>()
    bucket.fault = (method, key) => {
      const isFirst = !failed.has(`${method} ${key}`)
      if (!isFirst || !/ports|manifest/.test(key)) return undefined
      failed.add(`${method} ${key}`)
      return key.includes('ports') ? 'hang up' : { status: 503, code: 'SlowDown' }
    }
    expect((await exportTo('s3://lake/again')).exitCode).toBe(0)
    expect([...failed].filter((one) => one.startsWith('PUT'))).toHaveLength(2)
    await expectComplete('again/')
  })

  it('that cannot be completed says why and shows the last', { tags: ['release'] }, async () => {
    await exportTo('s3://lake/denied')
    const before = new Map(bucket.objects)
    await scene.run`update tracking.ports set name = 'denied'`
    bucket.fault = (method, key) =>
      method === 'PUT' && key.includes('ports') ? { status: 403, code: 'AccessDenied' } : undefined
    const { exitCode, stderr } = await exportTo('s3://lake/denied')
    expect([exitCode, stderr]).toEqual([
      2,
      'error: --out s3://lake/denied is not open to these keys (AccessDenied); allow them ' +
        's3:ListBucket of the bucket, and s3:GetObject, s3:PutObject and s3:DeleteObject below ' +
        'the folder\n',
    ])
    expect(bucket.objects).toEqual(before)
    expect(await readdir(directory)).toEqual([])
  })

  const REFUSED: [string, string, Record<string, string>, string][] = [
    ['a bucket that is not there', 's3://other/lake', {}, 'has no such bucket; make it first'],
    ['an unknown key', 's3://lake/a', { AWS_ACCESS_KEY_ID: 'else' }, 'look at AWS_ACCESS_KEY_ID'],
    [
      'no keys',
      's3://lake/a',
      { AWS_ACCESS_KEY_ID: '', AWS_SECRET_ACCESS_KEY: '' },
      'needs keys; set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or AWS_PROFILE',
    ],
    ['no region', 's3://lake/a', { AWS_ENDPOINT_URL_S3: '' }, 'needs AWS_REGION'],
    [
      'a store that is down',
      's3://lake/a',
      { AWS_ENDPOINT_URL_S3: 'http://127.0.0.1:1' },
      's3://lake/a cannot be used now (ECONNREFUSED); run it again',
    ],
    ['half an address', 's3://', {}, 'is s3://; it must be s3://<bucket>/<folder>'],
    ['another store', 'gs://lake/a', {}, 'an export goes into a folder or to s3://'],
  ]
  it.each(REFUSED)(
    'refuses %s with the fix',
    { tags: ['release'] },
    async (_, out, env, sentence) => {
      const { exitCode, stdout, stderr } = await exportTo(out, env)
      expect([exitCode, stdout]).toEqual([2, ''])
      expect(stderr).toContain(sentence)
    },
  )

  it('refuses a place with anything else in it, which stays as it is', async () => {
    bucket.objects.set('mine/', Buffer.alloc(0))
    bucket.objects.set('mine/tables/export-1.parquet', Buffer.from('mine'))
    expect((await exportTo('s3://lake/mine')).stderr).toContain('has files but no manifest')
    bucket.objects.delete('mine/tables/export-1.parquet')
    expect((await exportTo('s3://lake/mine')).exitCode).toBe(0)
    const manifest = bucket.objects.get(`mine/${MANIFEST}`)!.toString()
    bucket.objects.set(`mine/${MANIFEST}`, Buffer.from(manifest.replace(/"id":"\w+"/, '"id":"o"')))
    expect((await exportTo('s3://lake/mine')).stderr).toContain('holds the warehouse tracking of')
    bucket.objects.set(`mine/${MANIFEST}`, Buffer.from(manifest.slice(0, 100)))
    expect((await exportTo('s3://lake/mine')).stderr).toContain('that this program did not write')
  })
})
