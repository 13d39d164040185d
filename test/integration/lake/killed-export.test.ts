import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { LAKE_FAILPOINTS } from '../../../src/base/failpoint.js'
import { callCli } from '../../support/call-cli.js'
import { runCli, startCli } from '../../support/run-cli.js'
import { closeScenes, openScene, type Scene } from '../sync/sync-scene.js'
import { expectSame, filesIn, openLakeReader, readManifestOf, type Rows } from './lake-scene.js'
import { atScale } from '../../support/test-scale.js'
import { useFolder } from '../../support/temp-folder.js'

const SEEDS = atScale(1, 60)
/** About as long as an export of all tables takes here, with the start of the program. */
const LONGEST_MS = 1_200

/** One that goes by changes, one that is written whole, and one that stays as it is. */
const FEW = ['shipments', 'container_import_deadlines', 'custom_fields'].flatMap((name) => [
  '--only',
  name,
])

let scene: Scene
const folder = useFolder('file')
let env: Record<string, string>

beforeAll(async () => {
  scene = await openScene()
  env = { DATABASE_URL: scene.url, TRACKING_MIGRATE: 'false', TRACKING_LOG_LEVEL: 'silent' }
  await scene.sync({ command: 'backfill' })
})

afterAll(async () => {
  await closeScenes()
})

/** Rows of two tables: one is exported by changes, one is written whole. */
async function change(text: string): Promise<void> {
  await scene.run`update tracking.shipments set customer_name = ${text}`
  await scene.run`update tracking.container_import_deadlines set time_zone = ${text}`
}

async function complete(out: string, only: readonly string[]): Promise<void> {
  const args = ['export', 'parquet', '--out', out, ...only]
  expect(await callCli(args, env)).toMatchObject({ exitCode: 0 })
  await expectSame(scene.warehouse, out)
  const { files } = await readManifestOf(out)
  expect(await filesIn(out)).toEqual(files.map(({ path }) => path).sort())
  expect((await readdir(out)).sort()).toEqual(['manifest', 'tables'])
}

async function latestOf(out: string): Promise<Record<string, Rows>> {
  const reader = await openLakeReader(out)
  const seen: Record<string, Rows> = {}
  for (const table of (await readManifestOf(out)).tables) {
    seen[table.folder] = await reader.latest(table)
  }
  return seen
}

describe('a killed export', { tags: ['L1'] }, () => {
  it('shows the export before until it is complete', { tags: ['release'] }, async () => {
    const out = join(folder.path, 'points')
    const only = FEW
    const kill = (failpoint: string) =>
      runCli(['export', 'parquet', '--out', out, ...only], {
        directory: folder.path,
        env: { ...env, TRACKING_FAILPOINT: failpoint },
      })
    expect(await kill('lake_files_placed')).toMatchObject({ signal: 'SIGKILL' })
    expect(await latestOf(out)).toEqual({})
    await complete(out, only)
    for (const point of LAKE_FAILPOINTS) {
      const before = await latestOf(out)
      await change(point)
      expect(await kill(point), point).toMatchObject({ signal: 'SIGKILL', stdout: '' })
      if (point === 'lake_committed') await expectSame(scene.warehouse, out)
      else expect(await latestOf(out), point).toEqual(before)
    }
    await complete(out, only)
  })

  it('does so whenever it is killed', async () => {
    const out = join(folder.path, 'times')
    const only = SEEDS > 1 ? ['--only', 'tables'] : FEW
    await complete(out, only)
    for (let seed = 1; seed <= SEEDS; seed += 1) {
      const before = await latestOf(out)
      await change(`time ${seed}`)
      const program = await startCli(['export', 'parquet', '--out', out, ...only], {
        directory: folder.path,
        env,
      })
      // Spread over the time that it takes: the fraction of a multiple of the golden ratio.
      const timer = setTimeout(
        () => {
          program.kill(seed % 2 === 0 ? 'SIGTERM' : 'SIGKILL')
        },
        ((seed * 0.618034) % 1) * LONGEST_MS,
      )
      const { exitCode } = await program.ended
      clearTimeout(timer)
      const seen = await latestOf(out)
      const isBefore = JSON.stringify(seen) === JSON.stringify(before)
      if (exitCode === 0 || !isBefore) await expectSame(scene.warehouse, out)
      await complete(out, only)
    }
  })
})
