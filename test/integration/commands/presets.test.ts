import { afterAll, beforeAll, expect, it } from 'vitest'
import { startSimulator, type Simulator } from '../../../src/extensions/simulator/server.js'
import { callCli } from '../../support/call-cli.js'
import { createTestDatabase, type TestDatabase } from '../../support/test-database.js'

let simulator: Simulator
let database: TestDatabase
let settings: Record<string, string>

beforeAll(async () => {
  simulator = await startSimulator({ shipments: 5, speed: 0, rateLimitPerMinute: null })
  database = await createTestDatabase()
  settings = {
    TRACKING_SERVICE: 'terminal49',
    TRACKING_API_URL: simulator.url,
    TRACKING_API_KEY: simulator.apiKey,
    TRACKING_LOG_LEVEL: 'silent',
    DATABASE_URL: database.url,
  }
})

afterAll(async () => {
  await database.drop()
  await simulator.close()
})

it('check names the preset in force and what is given in place of it', async () => {
  const { stdout, exitCode } = await callCli(['check'], settings)
  expect(exitCode).toBe(0)
  expect(stdout).toContain(
    'complete and well-formed; preset terminal49 (environment), ' +
      'overridden by TRACKING_API_URL (environment)\n',
  )
})

it('config tells what the preset gives', async () => {
  const { stdout } = await callCli(['config', '--json'], settings)
  const rows = JSON.parse(stdout) as { variable: string; value: unknown; from: string }[]
  const row = (name: string) => rows.find(({ variable }) => variable === name)
  expect(row('TRACKING_SERVICE')).toMatchObject({ value: 'terminal49', from: 'environment' })
  expect(row('TRACKING_API_URL')).toMatchObject({ value: simulator.url, from: 'environment' })
})

it('a key of another service is told with the preset, the address and the variable', async () => {
  const wrong = { ...settings, TRACKING_API_KEY: 'a-key-of-another-service' }
  for (const command of ['sync', 'check']) {
    const { exitCode, stdout, stderr } = await callCli([command], wrong)
    expect(exitCode).toBe(3)
    const told = stdout + stderr
    expect(told).toContain('the service refused the API key (401)')
    expect(told).toContain(`TRACKING_API_KEY must be a key of the service at ${simulator.url}`)
    expect(told).toContain('the preset terminal49')
    expect(told).not.toContain('a-key-of-another-service')
  }
})

it('an unknown preset ends the command with those there are', async () => {
  const { exitCode, stderr } = await callCli(['sync', '--service', 'teminal49'], settings)
  expect(exitCode).toBe(2)
  expect(stderr).toMatch(
    /TRACKING_SERVICE .*: generic, terminal49; did you mean terminal49\?; .*\.json/,
  )
})
