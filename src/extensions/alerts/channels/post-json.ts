import { toError } from '../../../base/errors.js'
import { openOutbound } from '../../../base/outbound.js'
import { showText } from '../../../base/phrases.js'
import type { ChatChannel } from '../alert-channels.js'
import type { Delivery } from '../message.js'

const CONNECT_MS = 10_000
const ANSWER_MS = 15_000
const TOTAL_MS = 20_000
/** Bytes of a refusal that are read: enough for a sentence. */
const MOST_ANSWER_BYTES = 2_000

/**
 * Posts once, follows no redirect and never throws. A failure before the connection means that
 * nothing arrived; a missing answer after it leaves the message in doubt.
 */
export async function postJson(
  { url: address, proxy }: ChatChannel,
  body: string,
  headers: Readonly<Record<string, string>> = {},
): Promise<Delivery> {
  const url = new URL(address)
  const progress = { isConnected: false }
  const pool = openOutbound(url.origin, {
    connections: 1,
    connectMs: CONNECT_MS,
    headersTimeout: ANSWER_MS,
    bodyTimeout: ANSWER_MS,
    proxy,
    onConnect: () => {
      progress.isConnected = true
    },
  })
  try {
    const { statusCode, body: answer } = await pool.request({
      origin: url.origin,
      method: 'POST',
      path: `${url.pathname}${url.search}`,
      headers: {
        'content-type': 'application/json',
        'user-agent': 'tracking-sync',
        ...headers,
      },
      body,
      signal: AbortSignal.timeout(TOTAL_MS),
    })
    if (statusCode >= 200 && statusCode < 300) return { outcome: 'sent' }
    const said = showText((await readStart(answer)).trim(), 200)
    const advice = statusCode >= 300 && statusCode < 400 ? '; redirects are not followed' : ''
    const words = said === '' ? '' : `: ${said}`
    return { outcome: 'refused', reason: `answered ${statusCode}${advice}${words}` }
  } catch (thrown) {
    const reason = showText(toError(thrown).message, 200)
    return progress.isConnected
      ? { outcome: 'in_doubt', reason: `no answer came: ${reason}` }
      : { outcome: 'refused', reason: `cannot be reached: ${reason}` }
  } finally {
    await pool.destroy()
  }
}

/** The status decides: a body that breaks off changes nothing. */
async function readStart(body: AsyncIterable<Buffer>): Promise<string> {
  const chunks: Buffer[] = []
  let bytes = 0
  try {
    for await (const chunk of body) {
      chunks.push(chunk)
      bytes += chunk.length
      if (bytes >= MOST_ANSWER_BYTES) break
    }
  } catch {
    // The text so far is used.
  }
  return Buffer.concat(chunks).toString('utf8', 0, MOST_ANSWER_BYTES)
}
