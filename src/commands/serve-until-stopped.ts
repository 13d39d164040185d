import { once } from 'node:events'
import { setFlagsFromString } from 'node:v8'
import type { App } from '../app.js'
import { EXIT_CODES, exitCodeOfSignal, stopSignalOf } from '../base/exit-code.js'
import { SHUTDOWN_SECONDS } from '../serve/serve-dependencies.js'
import type { Serving } from '../serve/start-serve.js'
import type { CommandIo } from './command-io.js'

/**
 * Waits for the signal to stop, stops all parts, and resolves to the exit code. Rejects if its
 * parts cannot start. Ends the program even if the database hangs: what was acknowledged is stored,
 * the rest is repeated.
 */
export async function serveUntilStopped(
  app: App,
  io: CommandIo,
  serving: Serving,
): Promise<number> {
  const { signal, logger } = app
  boundNursery()
  const stopped = signal.aborted ? Promise.resolve() : once(signal, 'abort')
  try {
    await Promise.race([stopped, serving.started])
    await stopped
    logger.info('stopping', { reason: String(signal.reason) })
  } finally {
    if (signal.aborted) endInTime(app, io)
    await serving.stop()
  }
  logger.info('stopped')
  return EXIT_CODES.complete
}

/**
 * Keeps the nursery of the heap as large as the start of the program left it, 8 MB and a copy: in a
 * flood of tiny chunks V8 doubles both, and memory rises by 30 to 61 MB instead of 26 to 34
 * (`npm run bench:flood`). A load takes as long with it.
 */
function boundNursery(): void {
  setFlagsFromString('--semi-space-growth-factor=1')
}

function endInTime({ logger, signal }: App, io: CommandIo): void {
  const timer = setTimeout(() => {
    logger.error('not everything has ended in time; the rest is cut off', {
      shutdownSeconds: SHUTDOWN_SECONDS,
    })
    io.process.exit(exitCodeOfSignal(stopSignalOf(signal.reason) ?? 'SIGTERM'))
  }, SHUTDOWN_SECONDS * 1000)
  timer.unref()
}
