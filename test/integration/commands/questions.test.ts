import { readFile } from 'node:fs/promises'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import {
  bindQuery,
  readShippedQueries,
  type ShippedQuery,
} from '../../../src/extensions/answers/questions/shipped-queries.js'
import { readViews } from '../../../src/warehouse/schema/shipped-views.js'
import { keysOf, REFERENCES } from '../../../scripts/documents/dbt-models.js'
import { callCli, settingsOf, wordsOf, type CliCall } from '../../support/call-cli.js'
import { readerSettings } from '../../support/test-database.js'
import { importExamples } from '../../support/scenes/charges.js'
import { openLoadedWeek, type LoadedWeek } from '../../support/scenes/loaded-week.js'

let scene: LoadedWeek
let settings: Record<string, string>
let questions: ShippedQuery[]

/** Values that find something. */
let values: Record<string, string>

beforeAll(async () => {
  scene = await openLoadedWeek()
  settings = {
    ...settingsOf(scene.simulator, scene.url),
    ...readerSettings(scene.url),
    TRACKING_LOG_LEVEL: 'silent',
  }
  await importExamples(settings)
  questions = await readShippedQueries(scene.warehouse.names)
  const [some] = await scene.query<Record<string, string>>(
    `select containers.container_id as id, containers.number as container,
        shipments.bill_of_lading_number as shipment,
        shipments.shipping_line_name as line, terminals.nickname as terminal,
        (select min(ref) from tracking.containers cross join unnest(ref_numbers) as ref) as ref
    from tracking.containers
    inner join tracking.shipments using (shipment_id)
    inner join tracking.terminals on terminals.terminal_id = containers.pod_terminal_id
    where containers.pod_discharged_at is not null
    order by containers.container_id
    limit 1`,
  )
  for (const field of [
    ['cost_center', 'Garden=East'],
    ['priority', 'high'],
  ]) {
    const set = await callCli(['custom-fields', 'set', some!.id!, ...field], settings)
    expect(set).toMatchObject({ exitCode: 0, stderr: '' })
  }
  values = { ...some!, 'custom-field': 'Cost_Center=garden=EAST' }
}, 120_000)

afterAll(() => scene.close())

const query = (...args: string[]): Promise<CliCall> => callCli(['query', ...args], settings)

async function rowsOf(...args: string[]): Promise<Record<string, unknown>[]> {
  const { exitCode, stdout, stderr } = await query(...args, '--format', 'json')
  expect({ args, exitCode, stderr: stderr.replaceAll(/^note: .*\n/gm, '') }).toEqual({
    args,
    exitCode: 0,
    stderr: '',
  })
  return JSON.parse(stdout) as Record<string, unknown>[]
}

describe('the shipped questions', () => {
  it('have rows that their keys tell apart', { tags: ['release'] }, async () => {
    const keys = await keysOf(await readViews())
    expect(Object.keys(keys).length).toBeGreaterThan(20)
    let rows = 0
    let joined = 0
    for (const [name, key] of Object.entries(keys)) {
      const of = `tracking_analytics.${name}`
      const [found] = await scene.query<{ rows: number; keys: number }>(
        `select count(*)::int as rows,
            count(distinct jsonb_build_array(${key.join(', ')}))::int as keys from ${of}`,
      )
      expect({ name, keys: found!.keys }).toEqual({ name, keys: found!.rows })
      rows += found!.rows
      const question = questions.find((one) => one.name === name)
      const columns = question?.columns.map((column) => column.name) ?? []
      for (const [id, [schema, table, field = id]] of Object.entries(REFERENCES)) {
        if (!columns.includes(id)) continue
        joined += 1
        const lost = await scene.query(
          `select from ${of} where ${id} not in (select ${field} from ${schema}.${table})`,
        )
        expect({ name, id, lost: lost.length }).toEqual({ name, id, lost: 0 })
      }
    }
    expect(rows).toBeGreaterThan(2_000)
    expect(joined).toBeGreaterThan(85)
  })

  it('are narrowed as the rows say, in any case', { tags: ['release'] }, async () => {
    const { ref = '', terminal = '', line = '' } = values
    const [place] = await scene.query<Record<'code' | 'id' | 'ramp', string>>(
      `select ports.code, ports.port_id as id, stay.terminal_name as ramp
      from tracking_analytics.container_stays as stay
      inner join tracking.shipments using (shipment_id)
      inner join tracking.ports on ports.port_id = shipments.port_of_discharge_id
      inner join tracking.rail_terminals on rail_terminal_id = stay.terminal_id
      order by container_id limit 1`,
    )
    const [other] = await scene.query<Record<'ref' | 'terminal', string>>(
      `select min(ref) as ref,
          (select min(terminal_id) from tracking.terminals where nickname = $1) as terminal
      from tracking.shipments cross join unnest(ref_numbers) as ref`,
      terminal,
    )
    const isInPort = `shipments.port_of_discharge_locode = '${place!.code}'`
    const isAt =
      'containers.pod_terminal_id in (select terminal_id from tracking.terminals where nickname = $1)'
    const ofLine = 'shipments.shipping_line_name = $1'
    for (const [question, option, given, condition, ...value] of [
      ['last_free_days', '--ref', ref, '$1 = any(containers.ref_numbers)', ref],
      ['last_free_days', '--ref', other!.ref, '$1 = any(shipments.ref_numbers)', other!.ref],
      ['last_free_days', '--line', line.toLowerCase(), ofLine, line],
      ['timeline', '--port', place!.code.toLowerCase(), isInPort],
      ['timeline', '--port', place!.id, isInPort],
      ['timeline', '--terminal', terminal.toUpperCase(), isAt, terminal],
      ['timeline', '--terminal', other!.terminal, isAt, terminal],
    ] as const) {
      const ids = (await rowsOf(question, option, given)).map((row) => row.container_id).sort()
      const expected = await scene.query(
        `select container_id from tracking_analytics.${question} where container_id in (
          select containers.container_id from tracking.containers
          inner join tracking.shipments using (shipment_id) where ${condition}
        )`,
        ...value,
      )
      const of = { question, option, given }
      expect({ ...of, ids }).toEqual({ ...of, ids: expected.map((row) => row.container_id).sort() })
      expect({ ...of, isFound: ids.length > 0 }).toEqual({ ...of, isFound: true })
    }
    const stays = await rowsOf('last_free_days', '--terminal', place!.ramp)
    expect(stays.some((row) => row.place === 'ramp')).toBe(true)
    expect(stays.length).toBeLessThan((await rowsOf('last_free_days')).length)
  })

  it('are narrowed to a custom field, in any case', { tags: ['JC1', 'release'] }, async () => {
    const { container, shipment, 'custom-field': field = '' } = values
    const boxes = await rowsOf('last_free_days', '--custom-field', field)
    expect(boxes.length).toBeGreaterThan(0)
    expect(new Set(boxes.map((row) => row.container_number))).toEqual(new Set([container]))
    const [{ id } = { id: '' }] = await scene.query<{ id: string }>(
      'select shipment_id as id from tracking.shipments where bill_of_lading_number = $1',
      shipment,
    )
    await scene.query(
      `insert into tracking.custom_fields
          (custom_field_id, entity_id, api_slug, display_value, _observed_at, _first_seen_at, _changed_at)
      values ('region of one', $1, 'region', 'West', now(), now(), now())`,
      id,
    )
    expect(await rowsOf('last_free_days', '--custom-field', 'region=west')).toEqual(
      await rowsOf('last_free_days', '--shipment', shipment!),
    )
    // Or the tracking request that brought the shipment.
    const asked = await scene.query(
      `insert into tracking.custom_fields
          (custom_field_id, entity_id, entity_type, api_slug, value, _observed_at, _first_seen_at, _changed_at)
      select 'desk of one', min(tracking_request_id), 'tracking_request', 'desk', '"North"', now(), now(), now()
      from tracking.tracking_requests where tracked_object_id = $1 returning entity_id`,
      id,
    )
    expect(asked).toEqual([{ entity_id: expect.any(String) as string }])
    for (const question of ['last_free_days', 'journey']) {
      const ofRequest = await rowsOf(question, '--custom-field', 'desk=north')
      expect(ofRequest.length).toBeGreaterThan(0)
      expect(ofRequest).toEqual(await rowsOf(question, '--shipment', shipment!))
    }
  })

  it('leave out small counts', { tags: ['release'] }, async () => {
    for (const [name, count] of [
      ['carriers', 'vessel_calls'],
      ['waits', 'n + still_waiting'],
    ] as const) {
      const read = (condition: string) =>
        scene.query(`select from tracking_analytics.${name} where ${condition}`)
      const usual = await rowsOf(name)
      expect(usual.length).toBeLessThan((await read('true')).length)
      expect(usual).toHaveLength((await read(`${count} >= 5`)).length)
      expect(usual.filter((row) => row.is_few)).toEqual([])
      const few = await rowsOf(name, '--at-least', '1')
      expect(few).toHaveLength((await read(`${count} >= 1`)).length)
      expect(few.filter((row) => row.is_few)).not.toEqual([])
    }
  })
})

describe('two instants side by side', { tags: ['release'] }, () => {
  it('each question says which of its rows is the same one', async () => {
    for (const question of questions) {
      const { sql, parameters } = bindQuery(question, {}, question.comparedSqlText)
      const rows = await scene.query(sql, ...parameters)
      const { name } = question
      const keys = new Set(rows.map((row) => row._key)).size
      expect({ name, keys }).toEqual({ name, keys: rows.length })
    }
  })

  it('take hours that have only gone on for no change', async () => {
    const [noon, later] = [new Date(), new Date(Date.now() + 60_000)].map((at) => at.toISOString())
    for (const question of ['attention', 'rail', 'transshipments', 'empties']) {
      const { stderr } = await query(question, '--as-of', noon!, '--against', later!)
      expect(stderr).toMatch(/ 0 changed, [1-9]\d* did not change/)
    }
  })
})

describe('docs/questions.md', () => {
  it('has a star beside it whose joins neither lose nor double an amount', async () => {
    const page = await readFile(new URL('../../../docs/bi.md', import.meta.url), 'utf8')
    const [, star = ''] = /```sql\n([\s\S]*?);\n```/.exec(page) ?? []
    const sum = 'select currency_code, sum(cost_amount)::numeric as cost from'
    const joined = await scene.query(
      `with star (week, line, port, customer, type, currency_code, cost_amount) as (${star})
      ${sum} star group by 1 order by 1`,
    )
    expect(joined).toEqual(
      await scene.query(`${sum} tracking_analytics.costs group by 1 order by 1`),
    )
    expect(joined.length).toBeGreaterThan(0)
  })

  it('has commands that work, and samples with its columns', { tags: ['release'] }, async () => {
    const pages = ['questions', 'ask', 'rules'].map((page) =>
      readFile(new URL(`../../../docs/${page}.md`, import.meta.url), 'utf8'),
    )
    const all = (await Promise.all(pages)).join('\n')
    const blocks = [...all.matchAll(/```sh\n([\s\S]*?)\n```\n(?:\n\| (.*) \|\n)?/g)]
    expect(blocks.length).toBeGreaterThan(20)
    const one = await query('select container_id from containers limit 1', '--format', 'csv')
    const container = one.stdout.split('\r\n')[1]!
    for (const [, text = '', header] of blocks) {
      for (const line of text.split(/\n(?=tracking-sync)/)) {
        const [, words] = /^tracking-sync (.*)$/s.exec(line) ?? []
        const args = wordsOf(words ?? '')
        // The guide names one of the demo's containers; without rows a question still answers.
        if (args[0] === 'evidence') args[1] = container
        const { exitCode, stdout, stderr } = await callCli(args, settings)
        const errors = stderr.replaceAll(/^note: .*\n/gm, '')
        expect({ line, exitCode, errors }).toEqual({ line, exitCode: 0, errors: '' })
        if (header === undefined || args[0] !== 'query') continue
        const columns = stdout.split('\n')[0]!.split(/ {2,}/)
        expect({
          line,
          missing: header.split(' | ').filter((name) => !columns.includes(name)),
        }).toEqual({ line, missing: [] })
      }
    }
  })
})

describe('an answer without rows says why', () => {
  const noteOf = async (...args: string[]): Promise<string> => {
    const { exitCode, stdout, stderr } = await query(...args)
    expect({ args, exitCode }).toEqual({ args, exitCode: 0 })
    // It is beside the answer, and not in it.
    expect(stdout).not.toContain('note:')
    return stderr
  }

  it('when narrowed by what is not there: the nearest', { tags: ['FD9', 'release'] }, async () => {
    const [some] = await scene.query<Record<string, string>>(
      `select shipping_line_name as line, shipping_line_scac as scac, ports.name as port, ports.code
      from tracking.shipments
      inner join tracking.ports on ports.port_id = shipments.port_of_discharge_id limit 1`,
    )
    const { line, scac, port, code } = some!
    const misspelt = `${line!.slice(0, 2)}${line!.slice(3)}`
    expect(await noteOf('last_free_days', '--line', misspelt)).toBe(
      `note: the warehouse has no line "${misspelt}"; did you mean ${scac} (${line})?\n`,
    )
    const misheard = `${port}x`
    expect(await noteOf('arrivals', '--port', misheard)).toBe(
      `note: the warehouse has no port "${misheard}"; did you mean ${code} (${port})?\n`,
    )
    expect(await noteOf('last_free_days', '--terminal', 'qqqqqqq')).toMatch(
      /^note: the warehouse has no terminal "qqqqqqq"; there are \S.*, and \d+ more\n$/,
    )
    expect(await noteOf('timeline', '--container', 'XXXX0000000')).toBe(
      'note: the warehouse has no container "XXXX0000000"\n',
    )
    expect(await noteOf('costs', '--charge', 'demurage')).toBe(
      'note: the warehouse has no charge "demurage"; did you mean demurrage?\n',
    )
    expect(await noteOf('invoices', '--invoice', 'NOPE')).toMatch(
      /^note: the warehouse has no invoice "NOPE"/,
    )
    const { container } = values
    expect(await noteOf('last_free_days', '--line', line!.toUpperCase())).toBe('')
    expect(await noteOf('timeline', '--container', container!)).toBe('')
    // As it is printed on a paper.
    const printed = container!.toLowerCase().replace(/^(....)(.*)(.)$/, '$1 $2-$3')
    expect(printed).toMatch(/^[a-z]{4} \d{6}-\d$/)
    expect(await noteOf('timeline', '--container', printed)).toBe('')
    expect(await noteOf('timeline', '--shipment', values.shipment!.toLowerCase())).toBe('')
    // Known in upper and lower case: the note names the missing data, and does not call it
    // unknown.
    expect(await noteOf('invoices', '--container', container!.toLowerCase())).toBe(
      'note: no rows match --container: invoices needs a line of an invoice: ' +
        '`tracking-sync invoices import`\n',
    )
  })

  it('when what it needs is not there yet', { tags: ['FD12'] }, async () => {
    expect(await noteOf('carriers', '--limit', '0')).toMatch(
      /^note: no rows: carriers needs shipments of five vessel calls that have arrived /,
    )
    expect(await noteOf('changes', '--since', '2100-01-01')).toMatch(
      /^note: no rows match --since: changes needs a container of which something changed; /,
    )
  })

  it('when asked as of before the first load, or later', { tags: ['FD9', 'release'] }, async () => {
    expect(await noteOf('pickups', '--as-of', '2020-01-01')).toMatch(
      /^note: --as-of 2020-01-01 is before the first load \(2\d{3}-.*\): nothing was known then\n/,
    )
    // The clock of the service is days behind that of the database here, and counts.
    const [first] = await scene.query<{ known_at: string }>(
      `select to_char(min(valid_from), 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as known_at
        from tracking.container_history`,
    )
    expect(await noteOf('last_free_days', '--as-of', first!.known_at)).toBe('')
    expect(await noteOf('pickups', '--as-of', '2100-01-01', '--limit', '1')).toBe(
      'note: --as-of 2100-01-01 is in the future: what is known now, with days counted to then\n',
    )
  })

  it('and tells of an option without an effect', { tags: ['FD9'] }, async () => {
    expect(await noteOf('data_quality', '--wide', '--format', 'csv')).toBe(
      'note: --wide has no effect on csv; it is for table\n',
    )
    expect(await noteOf('data_quality', '--spreadsheet-safe')).toBe(
      'note: --spreadsheet-safe has no effect on table; it is for csv\n',
    )
  })
})

describe('query', () => {
  it('explains a question: definition, columns with their meaning, SQL', async () => {
    const { stdout } = await query('pickups', '--explain')
    expect(stdout).toMatch(/^Containers to pick up first\n/)
    expect(stdout).toContain('One row per')
    expect(stdout).toMatch(/^days_left +\S.*day/m)
    expect(stdout).toContain('from "tracking_analytics".pickups')
  })

  it('reads a part by its bare name, at an instant too', { tags: ['JE8'] }, async () => {
    const sql = 'select count(*) > 0 as known from known_containers'
    expect(await rowsOf(sql)).toEqual([{ known: true }])
    expect(await rowsOf(sql, '--as-of', '2020-01-01')).toEqual([{ known: false }])
    const named = await query(sql.replace('from ', 'from tracking_parts.'), '--as-of', '2020-01-01')
    expect(named.exitCode).toBe(2)
    expect(named.stderr).toContain('names tracking_parts.known_containers')
  })

  it('refuses a name that no warehouse has, and makes none', { tags: ['release'] }, async () => {
    for (const command of [
      ['query', 'attention', '--against', '2026-01-01'],
      ['evidence', 'MSCU1234566', '--out', 'nowhere'],
      ['rules', 'export'],
      ['invoices', 'export'],
      ['export', 'parquet', '--out', 'nowhere'],
      ['verify'],
    ]) {
      const { exitCode, stderr } = await callCli([...command, '--schema', 'trakcing'], settings)
      expect({ command, exitCode, stderr }).toEqual({
        command,
        exitCode: 2,
        stderr: expect.stringContaining(
          'TRACKING_SCHEMA names trakcing, and there is no warehouse of that name; correct it, ' +
            'or load one with `tracking-sync backfill`',
        ) as string,
      })
    }
    expect(
      await scene.query(`select nspname from pg_namespace where starts_with(nspname, 'trakcing')`),
    ).toEqual([])
  })
})
