import { expect, it } from 'vitest'
import { commandExtensions, extensions } from '../../../src/extensions.js'
import { callCli } from '../../support/call-cli.js'
import { openScene } from './sync-scene.js'

it('the core loads, syncs and tells its state with an empty list of extensions', async () => {
  expect([extensions, commandExtensions]).toEqual([[], []])
  const { stdout } = await callCli(['--help'], {})
  const commands = [...stdout.matchAll(/^ {2}([a-z-]+) /gm)].map(([, name]) => name)
  expect(commands).toEqual(
    expect.arrayContaining(['migrate', 'backfill', 'sync', 'serve', 'status', 'config']),
  )
  expect(commands).not.toContain('query')
  const config = await callCli(['config'], { TRACKING_ALERT_KINDS: 'all' })
  expect(config.stdout).toContain('TRACKING_SCHEMA')
  expect(config.stdout).not.toContain('TRACKING_ALERT_KINDS')
  expect(config.stderr).toContain('TRACKING_ALERT_KINDS is not a setting and has no effect')

  const none = await callCli(['status'], {})
  expect(none).toMatchObject({ exitCode: 2 })
  expect(none.stderr).toContain('DATABASE_URL is not set; this build has no database of its own')

  const scene = await openScene({ shipments: 6 })
  const settings = {
    DATABASE_URL: scene.url,
    TRACKING_API_URL: scene.simulator.url,
    TRACKING_API_KEY: scene.simulator.apiKey,
    TRACKING_LOG_LEVEL: 'error',
  }
  expect(await callCli(['backfill', '--json'], settings)).toMatchObject({ exitCode: 0 })
  expect(await scene.differences()).toEqual([])
  expect(await callCli(['status'], settings)).toMatchObject({ exitCode: 0 })
})
