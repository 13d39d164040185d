import { toError } from '../../base/errors.js'
import type { Logger } from '../../base/logger.js'
import { openOutbound } from '../../base/outbound.js'
import type { ChatChannel } from './alert-channels.js'

const CONNECT_MS = 5_000
const TOTAL_MS = 10_000

/**
 * Tells a monitor that a run has ended: one GET of its address after a complete run, of
 * `<address>/fail` after any other end, by the convention of healthchecks.io. The monitor alerts
 * people when it hears nothing, which a program that does not run cannot do. Takes ten seconds at
 * most and never throws: a failure is logged. The address is a secret, so the log does not contain
 * it.
 */
export async function sendHeartbeat(
  { url, proxy }: ChatChannel,
  isComplete: boolean,
  logger: Logger,
): Promise<void> {
  const address = new URL(url)
  if (!isComplete) address.pathname = `${address.pathname.replace(/\/$/, '')}/fail`
  const connections = openOutbound(address.origin, { connections: 1, connectMs: CONNECT_MS, proxy })
  try {
    const { statusCode, body } = await connections.request({
      origin: address.origin,
      method: 'GET',
      path: `${address.pathname}${address.search}`,
      headers: { 'user-agent': 'tracking-sync' },
      signal: AbortSignal.timeout(TOTAL_MS),
    })
    await body.dump()
    if (statusCode >= 300) warn(logger, `answered ${statusCode}`)
  } catch (thrown) {
    warn(logger, toError(thrown).message)
  } finally {
    await connections.destroy()
  }
}

function warn(logger: Logger, reason: string): void {
  logger.warn('the heartbeat did not arrive; check TRACKING_HEARTBEAT_URL', { reason })
}
