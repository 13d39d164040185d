import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { SYNC_FAILPOINTS, type SyncFailpoint } from '../../../src/base/failpoint.js'
import type { ProgramResult } from '../../support/run-cli.js'
import { createTestWarehouse, type TestWarehouse } from '../../support/test-warehouse.js'
import {
  changeWorld,
  checkpointLies,
  differencesOf,
  drawHit,
  openCrashScene,
  recordKill,
  repeatedPages,
  runBuiltCli,
  runCount,
  runsLeftOpen,
  runHere,
  snapshotOf,
  type CrashScene,
  type Kill,
} from './crash-scene.js'
import { doubledRows } from '../../support/doubled-rows.js'
import { atScale, isFullScale } from '../../support/test-scale.js'

const WORLDS = Array.from({ length: atScale(1, 20) }, (_, index) => index + 1)

/** Only a sync marks rows as gone. */
const OF_A_SYNC: readonly SyncFailpoint[] = ['response_received', 'mid_batch', 'mid_tombstones']

/**
 * The long run kills both commands at every point. Otherwise each point is one command's: what is
 * begun and ended is the same in both.
 */
const POINTS = {
  backfill: SYNC_FAILPOINTS.filter((point) =>
    isFullScale ? point !== 'mid_tombstones' : !OF_A_SYNC.includes(point),
  ),
  sync: isFullScale ? SYNC_FAILPOINTS : OF_A_SYNC,
}

/**
 * Per kill: the last stored page, to see that the list has not moved. A page that had arrived and
 * was not stored does not count as a repetition.
 */
const REPEATED_PAGES_PER_KILL = 1

let target: TestWarehouse
let scene: CrashScene | undefined

beforeAll(async () => {
  target = await createTestWarehouse()
})

afterAll(() => target.drop())

afterEach(async () => {
  await scene?.simulator.close()
  scene = undefined
})

/**
 * Kills the program at a point, perhaps the next one too, then lets a run of this process end what
 * they began.
 */
async function killAndFinish(
  open: CrashScene,
  command: 'backfill' | 'sync',
  point: SyncFailpoint,
  gone: readonly string[] = [],
): Promise<void> {
  const firstRun = (await runCount(open)) + 1
  const failpoint = `${point}:${drawHit(open, point, command)}`
  open.simulator.requests.reset()
  const kills: Kill[] = []
  let ended: ProgramResult | undefined = await runBuiltCli(open, command, failpoint)
  expect(ended, failpoint).toMatchObject({ exitCode: null, signal: 'SIGKILL', stdout: '' })
  while (ended?.signal === 'SIGKILL') {
    kills.push(await recordKill(open, firstRun))
    expect(await checkpointLies(open, firstRun), failpoint).toEqual([])
    // As if the minute had passed after which a silent holder is taken over.
    await target.run`delete from tracking_sync.lease`
    const isKilledAgain = kills.length === 1 && open.dice.chance(0.3)
    ended = isKilledAgain ? await runBuiltCli(open, command, `${point}:1`) : undefined
  }
  // A second run may not have reached its point.
  if (ended === undefined) await runHere(open, command)
  else expect(ended, failpoint).toMatchObject({ exitCode: 0, signal: null })
  expect(await differencesOf(open, gone), failpoint).toEqual([])
  expect(await doubledRows(target.warehouse), failpoint).toEqual([])
  expect(await runsLeftOpen(open), failpoint).toEqual([])
  for (const repeated of repeatedPages(open, kills)) {
    expect(repeated, failpoint).toBeLessThanOrEqual(REPEATED_PAGES_PER_KILL)
  }
}

describe(
  'the built program, killed and run again',
  { tags: ['C1', 'C2', 'C3', 'C4', 'C5', 'C6', 'C7', 'C8', 'I9'] },
  () => {
    it.for(WORLDS)(
      'ends a backfill equal to the source, whatever the point, in worlds %i',
      { tags: ['I10', 'release'] },
      async (number) => {
        for (const point of POINTS.backfill) {
          scene = await openCrashScene(target, number, point)
          await killAndFinish(scene, 'backfill', point)
          await scene.simulator.close()
        }
      },
    )

    it.for(WORLDS)('ends a sync equal anywhere, in world %i', { tags: ['I2'] }, async (number) => {
      const open = await openCrashScene(target, number)
      scene = open
      await runHere(open)
      let gone: string[] = []
      for (const [at, point] of POINTS.sync.entries()) {
        if (point === 'events_received' && !open.isFetching) continue
        gone = changeWorld(open, gone, at % 2 === 0 || point === 'mid_tombstones')
        // A missing record is asked for after a second pass has missed it.
        if (point === 'mid_tombstones') await runHere(open)
        await killAndFinish(open, 'sync', point, gone)
      }
      for (let pass = 1; pass <= 3; pass += 1) await runHere(open)
      expect(await differencesOf(open)).toEqual([])
      const before = await snapshotOf(open)
      await runHere(open)
      expect(await snapshotOf(open)).toEqual(before)
      expect(await doubledRows(target.warehouse)).toEqual([])
    })
  },
)
