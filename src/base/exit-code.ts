import { ConnectorError } from './errors.js'

/** Exit codes of every command. */
export const EXIT_CODES = {
  complete: 0,
  bug: 1,
  config: 2,
  auth: 3,
  service: 4,
  database: 5,
  incomplete: 6,
  leaseHeld: 7,
  output: 8,
} as const

/** One sentence for each, for `--help` and docs/exit-codes.md. */
export const EXIT_CODE_MEANINGS: Readonly<Record<keyof typeof EXIT_CODES, string>> = {
  complete: 'complete',
  bug: 'a fault of the program',
  config: 'a setting, a flag or a request is wrong',
  auth: 'the service refused the key',
  service: 'the service is down, too slow, or limited us for too long',
  database: 'the database failed: unreachable, no right, migration',
  incomplete: 'finished, but something is missing or differs',
  leaseHeld: 'another run is writing, or has taken over',
  output: 'standard output could not be written, as on a full disk',
}

const BY_ERROR_CODE: Readonly<Record<string, number>> = {
  config: EXIT_CODES.config,
  api_connection: EXIT_CODES.config,
  api_auth: EXIT_CODES.auth,
  api_rate_limited: EXIT_CODES.service,
  api_unavailable: EXIT_CODES.service,
  api_not_found: EXIT_CODES.service,
  api_request: EXIT_CODES.config,
  api_contract: EXIT_CODES.incomplete,
  api_refused: EXIT_CODES.incomplete,
  pagination_loop: EXIT_CODES.incomplete,
  incomplete_run: EXIT_CODES.incomplete,
  warehouse_unavailable: EXIT_CODES.database,
  warehouse_conflict: EXIT_CODES.database,
  warehouse_data: EXIT_CODES.database,
  warehouse_schema: EXIT_CODES.database,
  migration: EXIT_CODES.database,
  embedded_database: EXIT_CODES.database,
  lease_held: EXIT_CODES.leaseHeld,
  lease_lost: EXIT_CODES.leaseHeld,
}

/**
 * The exit code of a command that ends with an error; an error outside the taxonomy is a bug of
 * ours.
 */
export function exitCodeOf(thrown: unknown): number {
  if (!(thrown instanceof ConnectorError)) return EXIT_CODES.bug
  return BY_ERROR_CODE[thrown.code] ?? EXIT_CODES.bug
}

/** Signals that stop a run in an orderly way. */
const SIGNAL_NUMBERS = { SIGHUP: 1, SIGINT: 2, SIGTERM: 15 } as const

export type StopSignal = keyof typeof SIGNAL_NUMBERS

/** 128 + the signal's number, as shells have it: 130 for SIGINT, 143 for SIGTERM. */
export function exitCodeOfSignal(signal: StopSignal): number {
  return 128 + SIGNAL_NUMBERS[signal]
}

/** The signal that an abort's reason names, when a signal was the reason. */
export function stopSignalOf(reason: unknown): StopSignal | undefined {
  return typeof reason === 'string' && reason in SIGNAL_NUMBERS ? (reason as StopSignal) : undefined
}
