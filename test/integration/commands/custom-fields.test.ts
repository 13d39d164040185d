import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { callCli, refusalOf, settingsOf, type CliCall } from '../../support/call-cli.js'
import { closeScenes, openScene, type Scene } from '../sync/sync-scene.js'

let scene: Scene
let containerId: string
let settings: Record<string, string>

beforeEach(async () => {
  scene = await openScene({ shipments: 5 })
  containerId = scene.simulator.world.page('container', 0, 1, scene.simulator.clock.now())[0]!.id
  settings = {
    ...settingsOf(scene.simulator, scene.url),
    TRACKING_MIGRATE: 'false',
    TRACKING_LOG_LEVEL: 'silent',
  }
})

afterEach(closeScenes)

const set = (...args: string[]): Promise<CliCall> =>
  callCli(['custom-fields', 'set', ...args], settings)

const rows = () =>
  scene.query(
    `select entity_id, api_slug, value, display_value, _sync_run_id from tracking.custom_fields
    where entity_id = $1 order by api_slug`,
    containerId,
  )

const atSource = (slug: string): unknown =>
  scene.simulator.world.customField(containerId, slug, scene.simulator.clock.now())?.attributes
    ?.value

describe('custom-fields set', () => {
  it('changes the field at the service and its row', { tags: ['release'] }, async () => {
    const output = await set(containerId, 'priority', 'highest')
    expect(output).toMatchObject({ exitCode: 0, stderr: '' })
    expect(output.stdout).toBe(
      `priority of container ${containerId} is highest; written to the warehouse.\n`,
    )
    expect(atSource('priority')).toBe('highest')
    expect(await rows()).toEqual([
      {
        entity_id: containerId,
        api_slug: 'priority',
        value: 'highest',
        display_value: 'highest',
        _sync_run_id: null,
      },
    ])
    await set(containerId, 'priority', 'low')
    expect(await rows()).toMatchObject([{ value: 'low' }])
    expect((await set(containerId, 'priority', 'low')).stdout).toMatch(
      /the warehouse had this value already\.$/m,
    )
    const value = { from: '06:00', days: [1, 2.5], open: true }
    const given = ['--json-value', JSON.stringify(value), '--json']
    const { stdout } = await set(containerId, 'priority', ...given)
    const told = { entityId: containerId, apiSlug: 'priority', value, storedValue: value }
    expect(JSON.parse(stdout)).toMatchObject(told)
    expect(atSource('priority')).toEqual(value)
    expect(await rows()).toMatchObject([{ value }])
  })

  it('sends the other form where the service refuses the first', { tags: ['FF9'] }, async () => {
    const { faults, requests } = scene.simulator
    scene.simulator.edits.setCustomField(containerId, 'priority', 'normal')
    const match = { method: 'PATCH' }
    faults.add({ fault: { kind: 'status', status: 422 }, match, times: 1 })
    requests.reset()
    expect(await set(containerId, 'priority', 'highest')).toMatchObject({ exitCode: 0 })
    expect(requests.recent.map(({ status }) => status)).toEqual([422, 200])
    expect(atSource('priority')).toBe('highest')
    faults.add({ fault: { kind: 'status', status: 422 }, match, times: 2 })
    requests.reset()
    expect((await set(containerId, 'priority', 'low')).exitCode).not.toBe(0)
    expect(requests.recent.map(({ status }) => status)).toEqual([422, 422])
  })

  it('tells a value that the service stores otherwise', { tags: ['JC1', 'release'] }, async () => {
    await scene.sync()
    const output = await set(containerId, 'insured_value', '1250.50')
    expect(output).toMatchObject({ exitCode: 0, stderr: '' })
    expect(output.stdout).toContain('The service stores 1250.5, not the requested "1250.50".')
    expect(
      await scene.query(
        `select value, value_number, data_type from tracking.custom_fields
          where entity_id = $1 and api_slug = 'insured_value'`,
        containerId,
      ),
    ).toEqual([{ value: 1250.5, value_number: '1250.5', data_type: 'number' }])
  })

  it('sets the fields of shipments and tracking requests', { tags: ['JC1'] }, async () => {
    const { world, clock } = scene.simulator
    for (const [type, slug] of [
      ['shipment', 'consignee'],
      ['tracking_request', 'requested_by'],
    ] as const) {
      const { id } = world.page(type, 0, 1, clock.now())[0]!
      expect(await set(id, slug, 'ACME', '--of', type)).toMatchObject({ exitCode: 0 })
      const stored = await scene.query(
        'select entity_type, value_text from tracking.custom_fields where entity_id = $1',
        id,
      )
      expect(stored).toContainEqual({ entity_type: type, value_text: 'ACME' })
    }
  })

  it('without the permission ends with 3 and says what is missing', async () => {
    scene.simulator.edits.denyCustomFields(containerId)
    expect(await refusalOf(set(containerId, 'priority', 'highest'))).toMatch(
      /^3 .*the key needs update permission on container [\w-]+/,
    )
    expect(await rows()).toEqual([])
  })

  it('sets the answer aside when it cannot become a row', async () => {
    scene.simulator.edits.setCustomField(containerId, 'priority', 'normal')
    scene.simulator.faults.add({
      fault: {
        kind: 'transform',
        apply: () => ({ data: { type: 'custom_field', attributes: { api_slug: 'priority' } } }),
      },
      match: { method: 'PATCH' },
    })
    expect(await refusalOf(set(containerId, 'priority', 'highest'))).toMatch(
      /^6 .*made the change.*quarantine list/,
    )
    expect(await rows()).toEqual([])
    expect(await scene.query('select stream, pointer from tracking_sync.quarantine')).toEqual([
      { stream: 'custom_fields', pointer: '/id' },
    ])
  })
})
