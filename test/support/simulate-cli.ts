import { startSimulator, type Simulator } from '../../src/extensions/simulator/server.js'
import { startCli, type ProgramOptions, type RunningProgram } from './run-cli.js'

export interface SimulateCli {
  readonly apiUrl: string
  readonly apiKey: string
  readonly program: RunningProgram
}

/** `simulate` in a process of its own, on a free port, once it has told its address. */
export async function startSimulateCli(
  args: readonly string[],
  options: ProgramOptions,
): Promise<SimulateCli> {
  const program = await startCli(['simulate', '--port', '0', '--json', ...args], options)
  await program.waitFor(({ stdout }) => stdout().trimEnd().endsWith('}'))
  const { apiUrl, apiKey } = JSON.parse(program.stdout()) as Record<'apiUrl' | 'apiKey', string>
  return { apiUrl, apiKey, program }
}

/** A world with a stopped clock, so that two processes can have the same one. */
export const WORLD = { seed: 11, shipments: 12, startAt: '2026-03-02T08:00:00Z' } as const

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
