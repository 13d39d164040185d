import { afterEach, expect, it } from 'vitest'
import { syncToEquality } from './expect-sync.js'
import { closeScenes, HOUR, openScene, START } from './sync-scene.js'

afterEach(closeScenes)

/** Before the sync of each day after the first: the amount of a fee, and whether customs hold. */
const DAYS = [
  ['100.00', true],
  ['250.50', false],
  ['100.00', true],
  [null, false],
  ['250.50', true],
] as const

it('an interval begins each time that a value returns', { tags: ['release'] }, async () => {
  const scene = await openScene({ shipments: 10, seed: 3 })
  const { world, clock, edits } = scene.simulator
  const [shipment] = world.page('shipment', 4, 1, clock.now())
  const { id } = world.containersOf(shipment!.id, clock.now())[0]!
  await syncToEquality(scene, { command: 'backfill' })
  for (const [amount, isHeld] of DAYS) {
    clock.advance(24 * HOUR)
    const fee = { type: 'demurrage', currency_code: 'USD', amount }
    edits.change('container', id, { fees_at_pod_terminal: amount === null ? [] : [fee] })
    if (isHeld) edits.addHold(id, { name: 'customs', status: 'hold', description: null })
    else edits.clearHold(id, 'customs')
    await syncToEquality(scene)
  }
  const day = (at: string): string =>
    `(extract(epoch from ${at} - '${START.toISOString()}'::timestamptz) / 86400)::int as ${at}`
  const intervals = (table: string, value: string, condition: string): Promise<unknown[]> =>
    scene.query(
      `select ${value}::text as value, ${day('valid_from')}, ${day('valid_to')}
      from tracking.${table} where container_id = $1 and ${condition} order by 2`,
      id,
    )
  const from = (value: string, valid_from: number, valid_to: number | null) => ({
    value,
    valid_from,
    valid_to,
  })
  expect(await intervals('container_hold_history', 'status', `name = 'customs'`)).toEqual([
    from('hold', 1, 2),
    from('hold', 3, 4),
    from('hold', 5, null),
  ])
  expect(await intervals('container_fee_history', 'amount', `type = 'demurrage'`)).toEqual([
    from('100.00', 1, 2),
    from('250.50', 2, 3),
    from('100.00', 3, 4),
    from('250.50', 5, null),
  ])
})
