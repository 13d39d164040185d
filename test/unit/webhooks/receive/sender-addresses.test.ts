import type { IncomingMessage } from 'node:http'
import { describe, expect, it } from 'vitest'
import type { LogFields, Logger } from '../../../../src/base/logger.js'
import { silentLogger } from '../../../../src/base/logger.js'
import {
  SenderAddresses,
  senderAddress,
} from '../../../../src/webhooks/receive/sender-addresses.js'
import { createManualSleep } from '../../../support/manual-sleep.js'

const HOUR = 3_600_000
const DAY = 24 * HOUR

function createScene(
  first: unknown = { webhook_notification_ips: ['192.0.2.10', '198.51.100.0/28'] },
  known: readonly string[] = [],
) {
  const lines: { level: string; message: string; fields: LogFields | undefined }[] = []
  const logger: Logger = {
    ...silentLogger,
    warn: (message, fields) => lines.push({ level: 'warn', message, fields }),
    error: (message, fields) => lines.push({ level: 'error', message, fields }),
  }
  const scene = { answer: first, nowMs: Date.parse('2026-03-02T08:00:00Z'), reads: 0 }
  const manual = createManualSleep()
  const addresses = new SenderAddresses({
    load: () => {
      scene.reads += 1
      return scene.answer instanceof Error
        ? Promise.reject(scene.answer)
        : Promise.resolve(scene.answer)
    },
    clock: () => new Date(scene.nowMs),
    sleep: manual.sleep,
    logger,
    known,
  })
  return { scene, addresses, lines, manual }
}

describe('the addresses of the service', () => {
  it('are judged one by one and by range, IPv4 in IPv6 too', { tags: ['W19'] }, async () => {
    const { addresses } = createScene()
    expect(addresses.check('192.0.2.10')).toBe('unknown')
    await addresses.refresh()
    const allowed = ['192.0.2.10', '::ffff:192.0.2.10', '::ffff:c000:20a', '198.51.100.15']
    expect(allowed.map((address) => addresses.check(address))).toEqual(allowed.map(() => 'allowed'))
    const refused = ['192.0.2.11', '::ffff:192.0.2.11', '198.51.100.16', '::1', '', 'x', undefined]
    expect(refused.map((address) => addresses.check(address))).toEqual(refused.map(() => 'refused'))
    // Those of the settings until the list was read.
    const { addresses: known } = createScene(undefined, ['203.0.113.7'])
    const both = () => ['203.0.113.7', '192.0.2.10'].map((address) => known.check(address))
    expect(both()).toEqual(['allowed', 'refused'])
    await known.refresh()
    expect(both()).toEqual(['refused', 'allowed'])
  })

  it('an unreadable list holds for seven days, with warnings', { tags: ['W19'] }, async () => {
    const { scene, addresses, lines } = createScene()
    await addresses.refresh()
    expect(lines).toEqual([])
    scene.answer = new Error('the service is down')
    scene.nowMs += 7 * DAY
    await addresses.refresh()
    expect(lines.map(({ level }) => level)).toEqual(['warn'])
    expect(addresses.check('192.0.2.10')).toBe('allowed')
    expect(addresses.check('192.0.2.11')).toBe('refused')
    scene.nowMs += 1
    expect(addresses.check('192.0.2.11')).toBe('unknown')
    await addresses.refresh()
    expect(lines.map(({ level }) => level)).toEqual(['warn', 'error'])
    scene.answer = ['203.0.113.7']
    await addresses.refresh()
    expect(addresses.check('203.0.113.7')).toBe('allowed')
    expect(addresses.check('192.0.2.10')).toBe('refused')
  })

  it('an answer without addresses does not shut everybody out', { tags: ['W19'] }, async () => {
    const { scene, addresses, lines } = createScene()
    await addresses.refresh()
    for (const answer of [{ webhook_notification_ips: [] }, { errors: [] }, null, [['1.2.3']]]) {
      scene.answer = answer
      await addresses.refresh()
    }
    expect(lines).toHaveLength(4)
    expect(addresses.check('192.0.2.10')).toBe('allowed')
  })

  it('are read every hour until told to stop', async () => {
    const { scene, addresses, manual } = createScene()
    const stop = new AbortController()
    const running = addresses.keepFresh(stop.signal)
    for (const reads of [1, 2, 3]) {
      await expect.poll(() => manual.waits()).toEqual([HOUR])
      expect(scene.reads).toBe(reads)
      manual.wake()
    }
    stop.abort()
    await running
    expect(addresses.check('192.0.2.10')).toBe('allowed')
  })
})

describe('the address of a request', { tags: ['W19'] }, () => {
  function request(remoteAddress: string, forwarded?: string): IncomingMessage {
    const headers = forwarded === undefined ? {} : { 'x-forwarded-for': forwarded }
    return { socket: { remoteAddress }, headers } as unknown as IncomingMessage
  }

  const [SENDER, PROXY] = ['203.0.113.5', '10.0.0.1']
  it.each([
    ['the connection’s, whatever X-Forwarded-For says', 0, SENDER, '192.0.2.10', SENDER],
    ['the connection’s, without its IPv6 clothes', 0, `::ffff:${SENDER}`, undefined, SENDER],
    ['what our one proxy added, not the sender', 1, PROXY, `192.0.2.10, ${SENDER}`, SENDER],
    ['what the outer of two added', 2, PROXY, `192.0.2.10, ${SENDER}, 10.0.0.2`, SENDER],
    ['without a port', 1, '10.0.0.1', '203.0.113.5:4711', '203.0.113.5'],
    ['without brackets', 1, '10.0.0.1', '[2001:db8::1]:4711', '2001:db8::1'],
    ['none where a proxy added nothing', 1, '192.0.2.10', undefined, undefined],
    ['none where hops are missing', 2, '192.0.2.10', '192.0.2.10', undefined],
    ['none where it is no address', 1, '10.0.0.1', '192.0.2.10, unknown', undefined],
  ])('is %s', (_what, hops, remote, forwarded, expected) => {
    expect(senderAddress(request(remote, forwarded), hops)).toBe(expected)
  })
})
