import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { chooseFreePort } from '../../../src/extensions/embedded-postgres/server-process.js'
import type { Dice } from '../../../src/extensions/simulator/world/dice.js'
import { endPrograms, type RunningProgram } from '../../support/run-cli.js'
import { createTestWarehouse, type TestWarehouse } from '../../support/test-warehouse.js'
import {
  deliverRest,
  expectEverythingOnce,
  lostDeliveries,
  openCrashScene,
  sendRound,
  startServing,
  waitUntilApplied,
  type ServeParts,
  type WebhookCrashScene,
} from './crash-scene.js'
import { atScale } from '../../support/test-scale.js'

const SEEDS = Array.from({ length: atScale(1, 20) }, (_, index) => index + 1)
const MOST_ROUNDS = 3_000

interface Blow {
  /** Absent: killed from outside, at any moment of a round. */
  readonly point?: string
  /** How often the point is passed at most before it kills. */
  readonly mostHits: number
  readonly victim: ServeParts
}

const BLOWS: readonly Blow[] = [
  { point: 'delivery_received', mostHits: 40, victim: 'receiver' },
  { point: 'delivery_stored', mostHits: 40, victim: 'receiver' },
  { point: 'mid_batch', mostHits: 6, victim: 'processor' },
  { point: 'mid_notifications', mostHits: 3, victim: 'processor' },
  { point: 'after_notifications', mostHits: 3, victim: 'processor' },
  { mostHits: 20, victim: 'receiver' },
]

let target: TestWarehouse
let scene: WebhookCrashScene | undefined

beforeAll(async () => {
  target = await createTestWarehouse()
})

afterAll(() => target.drop())

afterEach(async () => {
  await endPrograms()
  await scene?.simulator.close()
  scene = undefined
})

async function openScene(number: number): Promise<WebhookCrashScene> {
  const httpPort = await chooseFreePort([], new Set())
  const { warehouse, url: databaseUrl } = target
  scene = await openCrashScene({ number, warehouse, databaseUrl, httpPort })
  return scene
}

/**
 * One place of the deployment, where a new process follows each killed one until the kills end.
 */
class Post {
  readonly #scene: WebhookCrashScene
  readonly #parts: ServeParts
  readonly #blows: Blow[]
  #program: RunningProgram | undefined
  #roundsLeft = Infinity
  /** The present process will be killed. */
  isDoomed = false
  isGone = true

  constructor(open: WebhookCrashScene, parts: ServeParts) {
    this.#scene = open
    this.#parts = parts
    this.#blows = shuffled(
      BLOWS.filter(({ victim }) => victim === parts),
      open.dice,
    )
  }

  async startNext(): Promise<void> {
    const blow = this.#blows.shift()
    const hits = this.#scene.dice.integer(1, blow?.mostHits ?? 1)
    this.isDoomed = blow !== undefined
    this.#roundsLeft = blow !== undefined && blow.point === undefined ? hits : Infinity
    const failpoint = blow?.point === undefined ? '' : `${blow.point}:${hits}`
    this.#program = await startServing(this.#scene, this.#parts, failpoint)
    this.isGone = false
    void this.#program.ended.finally(() => (this.isGone = true)).catch(() => undefined)
  }

  /** To be called while deliveries are on their way. */
  passRound(): void {
    this.#roundsLeft -= 1
    if (this.#roundsLeft === 0) this.#program?.kill('SIGKILL')
  }

  async expectKilled(): Promise<void> {
    expect(await this.#program?.ended).toMatchObject({ signal: 'SIGKILL', stderr: '' })
  }

  async stop(): Promise<void> {
    this.#program?.kill('SIGTERM')
    expect(await this.#program?.ended).toMatchObject({ exitCode: 0, stderr: '' })
  }
}

/**
 * Sends without a pause and replaces what is killed, until all blows have fallen and everything is
 * delivered.
 */
async function endure(open: WebhookCrashScene, posts: readonly Post[]): Promise<void> {
  for (const post of posts) await post.startNext()
  for (let round = 0; posts.some(({ isDoomed }) => isDoomed); round += 1) {
    if (round === MOST_ROUNDS) throw new Error('not everything that should be killed was killed')
    const sending = sendRound(open)
    for (const post of posts) post.passRound()
    await sending
    for (const post of posts.filter(({ isGone }) => isGone)) {
      await post.expectKilled()
      expect(await lostDeliveries(open)).toEqual([])
      await post.startNext()
    }
  }
  await deliverRest(open)
  await waitUntilApplied(open)
  for (const post of posts) await post.stop()
  await expectEverythingOnce(open)
}

function shuffled<Item>(items: readonly Item[], dice: Dice): Item[] {
  const left = [...items]
  return items.flatMap(() => left.splice(dice.integer(0, left.length - 1), 1))
}

describe(
  'serve, killed under load and started again',
  { tags: ['C6', 'I5', 'I6', 'release'] },
  () => {
    it.for(SEEDS)('receiver and processor apart lose and double nothing, seed %i', async (seed) => {
      const open = await openScene(1_000 + seed)
      await endure(open, [new Post(open, 'receiver'), new Post(open, 'processor')])
    })
  },
)
