import { describe, expect, it } from 'vitest'
import { silentLogger, type Logger } from '../../../src/base/logger.js'
import { callCli } from '../../support/call-cli.js'
import { expectNothingToWrite, syncToEquality } from './expect-sync.js'
import { openLoadedScene, openScene } from './sync-scene.js'

describe('custom fields', { tags: ['JC1', 'release'] }, () => {
  it('are cast again when their definition changes, and go with it', async () => {
    const scene = await openLoadedScene({ shipments: 20 })
    const { edits, world } = scene.simulator
    const idOf = (slug: string): string =>
      world.customFieldDefinitions().find(({ attributes }) => attributes!.api_slug === slug)!.id
    const [cost, priority] = [idOf('cost_center'), idOf('priority')]
    const casts = (): Promise<object[]> =>
      scene.rows`
        select data_type, count(*) as rows, count(value_text) as texts,
          count(value_number) as numbers
        from tracking.custom_fields where definition_id = ${cost} group by 1`
    const [before] = await casts()
    const { rows } = before as { rows: number }
    expect(rows).toBeGreaterThan(1)
    expect(before).toEqual({ data_type: 'short_text', rows, texts: rows, numbers: 0 })
    edits.change('custom_field_definition', cost, { data_type: 'number' })
    // Between two complete passes, too.
    await syncToEquality(scene, { settings: { fullSyncHours: 24 } })
    expect(await casts()).toEqual([{ data_type: 'number', rows, texts: 0, numbers: rows }])
    await expectNothingToWrite(scene)

    edits.delete('custom_field_definition', priority)
    const gone = (): Promise<object[]> =>
      scene.rows`
        select (select count(_deleted_at) from tracking.custom_field_definitions) as definitions,
          (select count(_deleted_at) from tracking.custom_field_options
              where definition_id = ${priority}) as options,
          count(_deleted_at) as values, count(*) as of
        from tracking.custom_fields where definition_id = ${priority}`
    await scene.sync()
    const [once] = (await gone()) as [{ of: number }]
    expect(once.of).toBeGreaterThan(0)
    expect(once).toEqual({ definitions: 0, options: 0, values: 0, of: once.of })
    await syncToEquality(scene)
    expect(await gone()).toEqual([{ definitions: 1, options: 3, values: once.of, of: once.of }])
    await expectNothingToWrite(scene)
  })

  it('of a sensitive definition are stored only as long as the setting names it', async () => {
    const scene = await openScene({ shipments: 8 })
    const { edits, world } = scene.simulator
    const { id } = world
      .customFieldDefinitions()
      .find(({ attributes }) => attributes!.api_slug === 'insured_value')!
    edits.change('custom_field_definition', id, { sensitive: true })
    const stored = async (): Promise<Record<string, number>> => {
      const [row] = await scene.rows<Record<string, number>>`
        select count(*)::int as rows, count(nullif(value, 'null'))::int as values,
          count(display_value)::int as shown, count(value_number)::int as numbers,
          count(_coercions)::int as withheld
        from tracking.custom_fields where definition_id = ${id}`
      return row!
    }
    await scene.sync()
    const { rows = 0 } = await stored()
    expect(rows).toBeGreaterThan(1)
    const withheld = { rows, values: 0, shown: 0, numbers: 0, withheld: rows }
    expect(await stored()).toEqual(withheld)
    const named = { settings: { sensitiveFields: 'other, insured_value' } }
    await syncToEquality(scene, named)
    const open = await stored()
    expect(open).toMatchObject({ rows, withheld: 0 })
    expect(open.values).toBeGreaterThan(0)
    expect([open.shown, open.numbers]).toEqual([open.values, open.values])
    await expectNothingToWrite(scene, named)
    await scene.sync({ command: 'sync' })
    expect(await stored()).toEqual(withheld)
    await expectNothingToWrite(scene)
  })

  it('that an account may not read are told once and cost nothing else', async () => {
    const scene = await openScene({ shipments: 8 })
    const cli = { DATABASE_URL: scene.url, TRACKING_LOG_LEVEL: 'silent' }
    const service = {
      TRACKING_API_URL: scene.simulator.url,
      TRACKING_API_KEY: scene.simulator.apiKey,
    }
    for (const [status, path, streams] of [
      [404, /^\/custom_field/, ['custom_field_definitions', 'custom_fields']],
      [403, /options$/, ['custom_field_options']],
      [404, '/custom_fields', ['custom_fields']],
      [403, '/custom_field_definitions', ['custom_field_definitions']],
    ] as const) {
      const refused = scene.answers.fail(path, status)
      const told: string[] = []
      const logger: Logger = {
        ...silentLogger,
        warn: (message) => void told.push(message),
        error: (message) => void told.push(message),
        child: () => logger,
      }
      for (let run = 0; run < 2; run += 1) {
        const report = await scene.sync({ command: 'sync', logger })
        expect({ path, ...report }).toMatchObject({ path, exitCode: 0, problems: [] })
        expect(
          report.streams
            .filter(({ outcome }) => outcome !== 'complete')
            .map(({ stream, outcome }) => `${stream}: ${outcome}`),
        ).toEqual(streams.map((stream) => `${stream}: not_entitled`))
      }
      expect(told.filter((message) => message.includes('not_entitled'))).toHaveLength(1)
      const sentence = `service does not show this account ${streams.join(', ')}: all else is read`
      for (const command of ['status', 'check']) {
        const { stdout } = await callCli([command], { ...cli, ...service })
        expect(stdout.replace(/\s+/g, ' ')).toContain(sentence)
      }
      const [before] = await scene.rows`select count(*) as rows from tracking.containers`
      expect(before!.rows).toBeGreaterThan(10)
      refused.remove()
    }
    await syncToEquality(scene)
    expect(await scene.count('tracking.custom_fields')).toBeGreaterThan(10)
    expect((await callCli(['status'], cli)).stdout).not.toContain('does not show')
  })
})
