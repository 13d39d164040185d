import { afterEach, describe, expect, it } from 'vitest'
import { accountKey } from '../../../src/base/service-address.js'
import { readBudgets } from '../../../src/status/read-vitals.js'
import { pauseRequests } from '../../../src/warehouse/coordination/shared-budget.js'
import { callCli, settingsOf, type CliCall } from '../../support/call-cli.js'
import { closeScenes, openScene, type Scene } from '../sync/sync-scene.js'

afterEach(closeScenes)

const call = ({ simulator, url }: Scene, ...args: string[]): Promise<CliCall> =>
  callCli(args, settingsOf(simulator, url))

const accountOf = ({ simulator: { url, apiKey } }: Scene): string =>
  accountKey({ apiUrl: url, apiKey })

describe('commands that need the service and no warehouse', { tags: ['R6'] }, () => {
  it('count in the budget of all processes', { tags: ['release'] }, async () => {
    const scene = await openScene({ shipments: 2 })
    scene.simulator.requests.reset()
    const own = `${scene.simulator.url}/hook`
    for (const args of [
      ['check', '--webhook-url', own],
      ['webhooks', 'list'],
      ['webhooks', 'events'],
      ['webhooks', 'ips'],
      ['sync'],
    ]) {
      const before = scene.simulator.requests.recent.length
      const { stderr } = await call(scene, ...args)
      expect(stderr).not.toContain('request budget')
      expect(scene.simulator.requests.recent.length).toBeGreaterThan(before)
    }
    const requestsLastMinute = scene.simulator.requests.recent.length
    expect(await readBudgets(scene.warehouse)).toEqual([
      { account: accountOf(scene), requestsLastMinute, pausedUntil: null, pauseSeconds: 0 },
    ])
  })

  it('wait for a pause of others, and say so once', { tags: ['FD6', 'release'] }, async () => {
    const scene = await openScene({ shipments: 1 })
    // So long that a run tells it.
    await pauseRequests(scene.warehouse, accountOf(scene), 6_000)
    const [paused] = await readBudgets(scene.warehouse)
    expect(paused?.pausedUntil).toEqual(expect.any(String))
    const [ips, sync] = await Promise.all([call(scene, 'webhooks', 'ips'), call(scene, 'sync')])
    expect([ips.exitCode, sync.exitCode]).toEqual([0, 0])
    expect(ips.stderr).toContain('the requests of this minute are used up')
    expect(sync.stderr.split('\n').filter((line) => line.includes('request budget'))).toEqual([
      expect.stringMatching(/^waiting \d s for the request budget, until 2\S+Z$/),
    ])
    expect(await readBudgets(scene.warehouse)).toMatchObject([
      { account: accountOf(scene), pausedUntil: null, pauseSeconds: 0 },
    ])
  })
})
