import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { fileURLToPath } from 'node:url'
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createWarehouse, type Warehouse } from '../../../src/warehouse/connection/warehouse.js'
import { emptyWarehouse } from '../../support/empty-warehouse.js'
import { atScale, isFullScale } from '../../support/test-scale.js'
import { createTestWarehouse, type TestWarehouse } from '../../support/test-warehouse.js'
import { countedHits, START, StormPlay, WAREHOUSE, type Hits } from './play-storm.js'
import { simulateTime } from './scheduler.js'
import { prepareSimulatedDatabase, readNotes, SimulatedDatabase } from './simulated-database.js'
import { SimulatedService } from './simulated-service.js'
import { storms, type Storm } from './storm.js'

/** `npm run test:long -- simulation` plays ten thousand. */
const SEEDS = Number(process.env.SIMULATION_SEEDS ?? atScale(100, 10_000))
/** Progress of a long run that was interrupted or failed, for the next one to go on from. */
const PROGRESS_FILE = fileURLToPath(
  new URL('../../../reports/long/simulation-seeds.json', import.meta.url),
)
/** New seeds are for the long run: the suite fails only where something was changed. */
const START_OF_ALL: Progress = {
  first: Number(process.env.SIMULATION_FIRST ?? atScale(1, Date.now() % 2 ** 31)),
  played: 0,
  counted: 0,
  hits: {},
}
const FIRST = START_OF_ALL.first
/** A third of a second each, and many times that on a machine with other work. */
const TIMEOUT_MS = atScale(900_000, 24 * 3_600_000)
const TOLD_EVENTS = 60

interface Progress {
  /** The first seed; those after it follow it. */
  readonly first: number
  readonly played: number
  readonly counted: number
  readonly hits: Readonly<Record<string, number>>
}

interface Remembered {
  /** The fault that this storm showed first. */
  readonly what: string
  readonly storm: Storm
}

const CORPUS_FILE = new URL('../../corpus/simulation.json', import.meta.url)
const corpus = JSON.parse(readFileSync(CORPUS_FILE, 'utf8')) as Remembered[]

let target: TestWarehouse
let database: SimulatedDatabase
let beside: Warehouse
let restoreTime: () => void

beforeAll(async () => {
  target = await createTestWarehouse()
  await prepareSimulatedDatabase(target.warehouse)
  database = new SimulatedDatabase(target.url)
  beside = createWarehouse({ ...WAREHOUSE, pool: database.beside })
  restoreTime = simulateTime()
  // The first run in a database also compares its time zones.
  await play({ ...fc.sample(storms, { seed: 0, numRuns: 1 })[0]!, steps: [] })
})

afterAll(async () => {
  restoreTime()
  await database.close()
  await target.drop()
})

/** Throws with the story of the storm when something does not hold that must. */
async function play(storm: Storm): Promise<{ readonly hits: Hits; readonly digest: string }> {
  await emptyWarehouse(beside)
  // Notes of a storm that failed would fail the next.
  await readNotes(beside)
  const simulator = await SimulatedService.start(storm, START)
  const playing = new StormPlay(storm, database, beside, simulator)
  try {
    const hits = await playing.play()
    return { hits, digest: playing.scheduler.digest() }
  } catch (thrown) {
    const last = playing.scheduler.story.slice(-TOLD_EVENTS).join('\n')
    throw new Error(`${(thrown as Error).message}\nThe last events:\n${last}`, { cause: thrown })
  } finally {
    await playing.end()
    await simulator.close()
  }
}

/** Plays the storm of a seed; a failure is told with the smallest storm that shows it. */
async function playSeed(seed: number): Promise<Hits> {
  let first: Hits | undefined
  const outcome = await fc.check(
    fc.asyncProperty(storms, async (storm) => {
      const { hits } = await play(storm)
      first ??= hits
    }),
    { seed, numRuns: 1, interruptAfterTimeLimit: 300_000, markInterruptAsFailure: true },
  )
  if (!outcome.failed) return first!
  const [storm] = outcome.counterexample ?? []
  const { message = 'no reason' } = (outcome.errorInstance ?? {}) as Partial<Error>
  throw new Error(
    `seed ${seed} (SIMULATION_FIRST=${seed} SIMULATION_SEEDS=1): ${message}\n` +
      `Add to test/corpus/simulation.json: ${JSON.stringify({ what: '', storm })}`,
  )
}

/** Named seeds are played as they are named. */
const isResumed = isFullScale && process.env.SIMULATION_FIRST === undefined

function readProgress(): Progress {
  if (!isResumed || !existsSync(PROGRESS_FILE)) return START_OF_ALL
  return JSON.parse(readFileSync(PROGRESS_FILE, 'utf8')) as Progress
}

function keepProgress(progress: Progress): void {
  if (!isResumed) return
  mkdirSync(dirname(PROGRESS_FILE), { recursive: true })
  // An interruption leaves the old file or the new one.
  writeFileSync(`${PROGRESS_FILE}.new`, `${JSON.stringify(progress, null, 2)}\n`)
  renameSync(`${PROGRESS_FILE}.new`, PROGRESS_FILE)
}

/** The progress after one more seed. */
async function playNext({ first, played, counted, hits }: Progress): Promise<Progress> {
  const met = await playSeed(first + played)
  const sums = { ...hits }
  for (const [kind, times] of met) sums[kind] = (sums[kind] ?? 0) + times
  return {
    first,
    played: played + 1,
    counted: counted + (countedHits(met) > 0 ? 1 : 0),
    hits: sums,
  }
}

describe('the sync in simulated time over parts that fail', { tags: ['I1'] }, () => {
  it.for(corpus)(
    'remembered: $what',
    { tags: ['C10', 'I4', 'I8', 'I12'], timeout: TIMEOUT_MS },
    async ({ storm }) => {
      expect((await play(storm)).digest).toMatch(/^\w{64}$/)
    },
  )

  it('is a function of its seed', { tags: ['release'], timeout: TIMEOUT_MS }, async () => {
    for (const storm of fc.sample(storms, { seed: FIRST, numRuns: 2 })) {
      const { digest } = await play(storm)
      expect((await play(storm)).digest, JSON.stringify(storm)).toBe(digest)
    }
  })
})

describe(
  'storms by chance',
  { tags: ['I1', 'I2', 'I3', 'I4', 'I5', 'I6', 'I7', 'I8', 'H15'] },
  () => {
    it(
      `hold what is promised, ${SEEDS} of them, and end equal to the service`,
      {
        tags: ['I9', 'I10', 'I12', 'I13', 'I16', 'I17', 'P11', 'R2', 'R6', 'D10', 'FA2'],
        timeout: TIMEOUT_MS,
      },
      async () => {
        let progress = readProgress()
        while (progress.counted < SEEDS && progress.played < 1.5 * SEEDS) {
          progress = await playNext(progress)
          keepProgress(progress)
        }
        const { first, played, counted, hits } = progress
        const kinds = Object.entries(hits).sort(([one], [other]) => (one < other ? -1 : 1))
        process.stdout.write(
          `seeds ${first} to ${first + played - 1}, ${counted} counted: ` +
            `${kinds.map(([kind, times]) => `${kind} ${times}`).join(', ')}\n`,
        )
        expect(counted).toBeGreaterThanOrEqual(SEEDS)
        if (isResumed) rmSync(PROGRESS_FILE)
      },
    )
  },
)
