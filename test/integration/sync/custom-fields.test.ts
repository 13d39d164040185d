import { afterEach, describe, expect, it } from 'vitest'
import { silentLogger, type Logger } from '../../../src/base/logger.js'
import { callCli } from '../../support/call-cli.js'
import { expectNothingToWrite, syncToEquality } from './expect-sync.js'
import { closeScenes, openLoadedScene, openScene, type Scene, START } from './sync-scene.js'

afterEach(closeScenes)

interface Field {
  readonly custom_field_id: string
  readonly entity_type: string
  readonly entity_id: string
  readonly api_slug: string
}

const fieldsOf = (scene: Scene, where = 'true') =>
  scene.query<Field & Record<string, unknown>>(
    `select *, _deleted_at is not null as is_gone from tracking.custom_fields
    where ${where} order by custom_field_id`,
  )

describe('custom fields', { tags: ['JC1', 'release'] }, () => {
  it('of entities of every kind are rows, with their definitions and options', async () => {
    const scene = await openLoadedScene({ shipments: 60 })
    const { world } = scene.simulator
    const served = [...world.records('custom_field', START)]
    const [stored] = await scene.rows`
      select count(*) as fields, count(distinct entity_type) as kinds, count(value) as values,
        count(display_value) as shown, count(value_text) as texts, count(value_number) as numbers,
        count(value_date) as dates, count(value_timestamp) as timestamps,
        count(value_boolean) as booleans, count(value_list) as lists, count(data_type) as types,
        count(_coercions) as refused
      from tracking.custom_fields`
    const ofType = (...types: string[]): number =>
      served.filter(({ attributes, relationships }) => {
        const { id } = relationships!.definition!.data as { id: string }
        const definition = world.record('custom_field_definition', id, START)
        return (
          attributes!.value !== null && types.includes(String(definition!.attributes!.data_type))
        )
      }).length
    const count = (name: string): number =>
      served.filter(({ attributes }) => attributes![name] !== null).length
    expect(stored).toEqual({
      fields: served.length,
      kinds: 3,
      values: count('value'),
      shown: count('display_value'),
      texts: ofType('short_text', 'enum', 'reference'),
      numbers: ofType('number'),
      dates: ofType('date'),
      timestamps: ofType('datetime'),
      booleans: ofType('boolean'),
      lists: ofType('enum_multi'),
      types: served.length,
      refused: 0,
    })
    for (const number of Object.values(stored!)) if (number !== 0) expect(number).toBeGreaterThan(1)
    expect(served.length).toBeGreaterThan(60)
    expect(
      await scene.rows`
        select d.api_slug, d.entity_type, string_agg(o.label, ' ' order by o.position) as labels
        from tracking.custom_field_options as o
        join tracking.custom_field_definitions as d
            on d.custom_field_definition_id = o.definition_id
        group by 1, 2 order by 1`,
    ).toEqual([
      { api_slug: 'handling', entity_type: 'Container', labels: 'Fragile Keep dry Top load' },
      { api_slug: 'incoterm', entity_type: 'Shipment', labels: 'FOB CIF EXW' },
      { api_slug: 'priority', entity_type: 'Container', labels: 'High Normal Low' },
    ])
    await expectNothingToWrite(scene)
  })

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
    expect((await fieldsOf(scene)).length).toBeGreaterThan(10)
    expect((await callCli(['status'], cli)).stdout).not.toContain('does not show')
  })
})
