import { startSimulator, type Simulator } from '../../src/extensions/simulator/server.js'

/** A world with a stopped clock, so that two processes can have the same one. */
const WORLD = { seed: 11, shipments: 12, startAt: '2026-03-02T08:00:00Z' } as const

export const WORLD_ARGUMENTS = [
  ['--seed', String(WORLD.seed)],
  ['--shipments', String(WORLD.shipments)],
  ['--start', WORLD.startAt],
  ['--speed', '0'],
  ['--requests-per-minute', '0'],
].flat()

/** The same world within the test, to compare rows with and to play faults. */
export async function startSameWorld(
  options: Parameters<typeof startSimulator>[0] = {},
): Promise<Simulator> {
  return startSimulator({
    seed: WORLD.seed,
    shipments: WORLD.shipments,
    startAt: new Date(WORLD.startAt),
    speed: 0,
    rateLimitPerMinute: null,
    ...options,
  })
}
