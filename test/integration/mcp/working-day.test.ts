import { readFile } from 'node:fs/promises'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import {
  createMcpReader,
  startMcp,
  type McpProgram,
  type McpReader,
} from '../../support/mcp-client.js'
import { importExamples } from '../../support/scenes/charges.js'
import { openLoadedWeek, type LoadedWeek } from '../../support/scenes/loaded-week.js'

type Row = Readonly<Record<string, unknown>>

/** A sentence, and the one call that answers it. `{-1}` is the day before the last sync. */
interface Said {
  readonly who: string
  readonly said: string
  readonly tool: 'ask' | 'find'
  readonly arguments: Row
  /** Only these of the rows. */
  readonly rows?: Row
  /** Columns of the rows, each combination once; or a member of the answer or its totals. */
  readonly expect: readonly string[] | string
  /** SQL of its own over the raw tables and BOX; else a literal `answer`. */
  readonly known?: string
  readonly answer?: unknown
  /** To be empty is its point. */
  readonly empty?: true
}

/** Containers with what their shipments and terminals say. */
const BOX = `with box as (
  select container.*, shipment.bill_of_lading_number as bill, shipment.customer_name as customer,
    shipment.shipping_line_scac as scac, shipment.pod_eta_at as eta, shipment.tags,
    shipment.pod_timezone as eta_zone, shipment.pod_ata_at, shipment.pod_vessel_name as vessel,
    shipment.port_of_discharge_locode as port, shipment.ref_numbers as shipment_refs,
    shipment.line_tracking_stopped_reason as stopped, terminal.nickname as terminal
  from tracking.containers as container
  inner join tracking.shipments as shipment using (shipment_id)
  left join tracking.terminals as terminal on terminal.terminal_id = container.pod_terminal_id
)`

const TEXT = await readFile(new URL('working-day.json', import.meta.url), 'utf8')
const SAID = JSON.parse(TEXT) as Said[]
let scene: LoadedWeek
let reader: McpReader
let program: McpProgram
let day: Said[]

beforeAll(async () => {
  scene = await openLoadedWeek()
  const settings = { DATABASE_URL: scene.url, TRACKING_LOG_LEVEL: 'silent' }
  await importExamples(settings, ['free-time-rules', 'invoices'])
  // A house bill beside the master bill of HMMU8778570, for the same box.
  await scene.query(
    `update tracking.shipments as house set (port_of_discharge_locode, pod_eta_at, pod_timezone)
      = (master.port_of_discharge_locode, master.pod_eta_at, master.pod_timezone)
    from tracking.shipments as master where master.bill_of_lading_number = 'HDMU815503109'
      and house.bill_of_lading_number = 'COSUTAO926733439'`,
  )
  const twice = "update tracking.containers set number = 'HMMU8778570'"
  await scene.query(`${twice} where number = 'CSNU1795806'`)
  const last = Date.parse(scene.instants.at(-1)!)
  const dated = TEXT.replaceAll(/\{(-?\d+)\}/g, (_, days: string) =>
    new Date(last + Number(days) * 86_400_000).toISOString().slice(0, 10),
  )
  day = JSON.parse(dated) as Said[]
  reader = await createMcpReader(scene)
  program = await startMcp([], { ...settings, TRACKING_READER_URL: reader.url })
})

afterAll(async () => {
  await program.close()
  await reader.drop()
  await scene.close()
})

/** Numbers as numbers, with and without their zeros; all else as texts. */
const plain = (value: unknown): string =>
  /^-?\d+(\.\d+)?$/.test(String(value)) ? String(Number(value)) : String(value)

const once = (rows: readonly (readonly unknown[])[]): string[] =>
  [...new Set(rows.map((row) => row.map(plain).join(' | ')))].sort()

function answeredIn({ expect: wanted, rows: of = {} }: Said, data: Row): string | string[] {
  const totals = data.totals as Row | undefined
  if (typeof wanted === 'string') return plain(data[wanted] ?? totals?.[wanted])
  const rows = (data.rows as Row[]).filter((row) =>
    Object.entries(of).every(([column, value]) => row[column] === value),
  )
  return once(rows.map((row) => wanted.map((column) => row[column])))
}

describe('a working day', { tags: ['JM1', 'release'] }, () => {
  it('is sixty questions, of every kind', () => {
    const count = (who: string): number => SAID.filter((one) => one.who === who).length
    expect(['importer', 'forwarder', 'operator'].map(count)).toEqual([20, 25, 15])
    expect(new Set(SAID.map((one) => one.arguments.question ?? 'find')).size).toBe(21)
    expect(SAID.filter(({ empty }) => empty).length).toBeLessThanOrEqual(5)
  })

  it.each(SAID.map(({ said }, index) => [said, index] as const))('%s', async (_, index) => {
    const one = day[index]!
    const { tool, arguments: given, known, answer, empty = false } = one
    const { data, isError, text } = await program.call(tool, given)
    const rows = known === undefined ? undefined : await scene.query<Row>(`${BOX} ${known}`)
    const list = rows?.map((row) => Object.values(row)) ?? (answer as unknown[][])
    const expected =
      typeof one.expect === 'string' ? plain(rows ? list[0]![0] : answer) : once(list)
    const answered = isError ? text : answeredIn(one, data)
    expect({ given, answered }).toEqual({ given, answered: expected })
    if (!empty) expect(expected.length > 0 && expected !== '0').toBe(true)
  })
})
