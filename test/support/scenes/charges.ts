import { expect } from 'vitest'
import { storeRulesFile } from '../../../src/extensions/answers/questions/free-time-rules.js'
import { parseRulesFile } from '../../../src/extensions/answers/questions/rules-file.js'
import { callCli } from '../call-cli.js'
import type { AnalyticsScene } from '../analytics-scene.js'

type Row = Readonly<Record<string, unknown>>

/** Stores a file of rules, of calendars or of holidays. */
export function importRules({ warehouse }: Pick<AnalyticsScene, 'warehouse'>, text: string) {
  const file = parseRulesFile('rules.csv', text)
  return warehouse.transaction('import', (session) => storeRulesFile(session, file))
}

const EXAMPLES = { holidays: 'rules', 'free-time-rules': 'rules', invoices: 'invoices' } as const

/** Imports example files of config/ by their commands, all unless named. */
export async function importExamples(
  settings: Readonly<Record<string, string>>,
  names = Object.keys(EXAMPLES) as (keyof typeof EXAMPLES)[],
): Promise<void> {
  for (const name of names) {
    const path = new URL(`../../../config/${name}.example.csv`, import.meta.url).pathname
    const call = await callCli([EXAMPLES[name], 'import', path], settings)
    expect(call).toMatchObject({ exitCode: 0 })
  }
}

/** Rates by the first day they are for. */
export type Rates = Readonly<Record<number, string>>

/** A rule in US dollars, named after its charge unless given, with its rates. */
export async function insertRule(
  scene: AnalyticsScene,
  rule: Row & { readonly charge: string; readonly rule_name?: string },
  rates: Rates = { 1: '100' },
): Promise<void> {
  const starts_with = rule.charge === 'detention' ? 'gate_out' : 'discharge'
  const whole = { rule_name: rule.charge, starts_with, currency_code: 'USD', ...rule }
  const { rule_name } = whole
  await scene.insertInto('analytics', 'free_time_rules', [whole])
  await scene.insertInto(
    'analytics',
    'free_time_tiers',
    Object.entries(rates).map(([from_day, daily_rate]) => ({ rule_name, from_day, daily_rate })),
  )
}

/** A fee as the terminal lists it. */
export function listedFee(
  container_id: string,
  type: string,
  amount: string | null,
  currency_code: string | null = 'USD',
): Row {
  const fee_key = `${type} ${String(currency_code)}`
  return { container_id, fee_key, type, amount, currency_code, is_total: type === 'total' }
}

/** A last free day in Los Angeles: of the terminal, the line, the railway or the service. */
export function lastFreeDay(
  container_id: string,
  whose: 'terminal' | 'line' | 'rail' | 'service',
  local_date: string | null,
  more: Row = {},
): Row {
  return {
    container_id,
    kind: whose === 'service' ? 'pickup_lfd' : `pickup_lfd_${whose}`,
    local_date,
    deadline_at: `${local_date ?? '2026-11-06'}T08:00:00Z`,
    time_zone: whose === 'rail' ? 'America/Chicago' : 'America/Los_Angeles',
    ...more,
  }
}

/** A box in Los Angeles on a shipment of its own, all of the same name. */
export interface Box {
  readonly id: string
  readonly line?: string
  readonly customer?: string
  readonly locode?: string
  /** Its last free day, as the line reports it. */
  readonly lastFree?: string | undefined
  readonly more?: Row
}

export async function insertBoxes(scene: AnalyticsScene, boxes: readonly Box[]): Promise<void> {
  for (const { id, line = 'MAEU', customer, locode, lastFree, more } of boxes) {
    const shipment = {
      shipment_id: id,
      shipping_line_scac: line,
      customer_name: customer ?? null,
      port_of_discharge_locode: locode ?? null,
    }
    const container = { container_id: id, number: id, shipment_id: id }
    await scene.insertKnown('shipments', [shipment])
    await scene.insertKnown('containers', [
      { ...container, pod_timezone: 'America/Los_Angeles', ...more },
    ])
    const days = lastFree === undefined ? [] : [lastFreeDay(id, 'line', lastFree)]
    await scene.insertKnown('container_import_deadlines', days)
  }
}
