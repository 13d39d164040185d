import { sql } from 'kysely'
import { projectFile } from '../../../../base/project-file.js'
import { readTextFile } from '../../../../base/text-file.js'
import type { ResourceObject } from '../../../../source/jsonapi/document.js'
import type { Simulator } from '../../server.js'
import type { Warehouse } from '../../../../warehouse/connection/warehouse.js'
import { relationRef } from '../../../../warehouse/connection/typed-database.js'

/** Every ninth container whose empty has been returned lacks a report. */
const SILENT_EVERY = 9
const FIVE_HOURS_MS = 5 * 60 * 60 * 1000

/** The simulator's plans report every milestone; this takes some of the reports away. */
export function leaveReportsOut({ world, edits, clock }: Simulator): void {
  const gaps = ['pod_arrived_at', 'pod_discharged_at', 'empty_terminated_at'] as const
  const returned = [...world.records('container', clock.now())].filter(
    ({ attributes }) => (attributes?.empty_terminated_at ?? null) !== null,
  )
  const silent = returned.filter((_, nth) => nth % SILENT_EVERY === 0)
  for (const [nth, { id }] of silent.entries()) {
    const gap = gaps[nth % gaps.length]
    if (gap !== undefined) edits.change('container', id, { [gap]: null })
  }
}

/** The events of those days, in sentences. */
export function letThingsGoWrong(simulator: Simulator): string[] {
  const { world, edits, clock } = simulator
  const at = clock.now()
  const shipments = [...world.records('shipment', at)]
  const containers = [...world.records('container', at)]
  const said: string[] = []
  const withdrawn = shipments.at(-1)
  if (withdrawn !== undefined) {
    edits.delete('shipment', withdrawn.id)
    said.push(`shipment ${textOf(withdrawn, 'bill_of_lading_number')} was withdrawn`)
  }
  const held = containers.find((container) => holdOf(container) !== undefined)
  const hold = held && holdOf(held)
  if (held !== undefined && hold !== undefined) {
    edits.clearHold(held.id, hold)
    said.push(`the ${hold} hold of ${textOf(held, 'number')} is no longer listed`)
  }
  const cooled = containers.find(({ attributes }) => attributes?.equipment_type === 'reefer')
  if (cooled !== undefined) {
    edits.change('container', cooled.id, { reefer_temperature: -18 })
    said.push(`${textOf(cooled, 'number')} has an attribute that nobody knows`)
  }
  const landed = containers.find((container) => textOf(container, 'pod_discharged_at') !== '')
  if (landed !== undefined) {
    const discharged = Date.parse(textOf(landed, 'pod_discharged_at')) - FIVE_HOURS_MS
    edits.change('container', landed.id, { pod_discharged_at: new Date(discharged).toISOString() })
    said.push(`the discharge of ${textOf(landed, 'number')} was corrected by five hours`)
  }
  sendOneBadRecord(simulator)
  said.push('one record cannot be read')
  return said
}

function textOf({ attributes = {} }: ResourceObject, name: string): string {
  const value = attributes[name]
  return typeof value === 'string' ? value : ''
}

function holdOf({ attributes = {} }: ResourceObject): string | undefined {
  const [hold] = (attributes.holds_at_pod_terminal ?? []) as { readonly name: string }[]
  return hold?.name
}

interface ListDocument {
  readonly data?: unknown
  readonly links?: { readonly next?: unknown }
  readonly meta?: { readonly total?: number }
}

/**
 * At the end of the list and counted in its total: to a run it is a record that came while the list
 * was read.
 */
function sendOneBadRecord({ faults }: Simulator): void {
  let isSent = false
  faults.add({
    match: { path: '/tracking_requests' },
    times: Infinity,
    fault: {
      kind: 'transform',
      apply: (document) => {
        const { data, links, meta } = document as ListDocument
        if (isSent || !Array.isArray(data) || (links?.next ?? null) !== null) return document
        isSent = true
        const bad = { id: 'unreadable', type: 'tracking_request', attributes: 'none' }
        return {
          data: [...(data as unknown[]), bad],
          links,
          meta: { ...meta, total: (meta?.total ?? 0) + 1 },
        }
      },
    },
  })
}

/** The output of each import of the files that ship with the program. */
export async function importExamples(warehouse: Warehouse): Promise<string[]> {
  const { parseRulesFile } = await import('../../../answers/questions/rules-file.js')
  const { storeRulesFile } = await import('../../../answers/questions/free-time-rules.js')
  const said: string[] = []
  for (const name of ['holidays', 'free-time-rules']) {
    const file = parseRulesFile(name, readExample(name))
    const { total, kind } = await warehouse.transaction('import the rules', (session) =>
      storeRulesFile(session, file),
    )
    said.push(`${total} ${kind}`)
  }
  const { total } = await importInvoices(warehouse)
  return [...said, `${total} lines of invoices`]
}

async function importInvoices(warehouse: Warehouse): Promise<{ readonly total: number }> {
  const { parseInvoices, storeInvoices } = await import('../../../answers/questions/dd-invoices.js')
  const lines = parseInvoices('invoices', readExample('invoices'))
  const charged = await findCharged(warehouse)
  const fitted = lines.map((line) => {
    const found = charged.find(({ charge }) => charge === line.charge)
    if (found === undefined) return line
    const { container_number, bill_of_lading_number, from_on, to_on, days } = found
    return {
      ...line,
      container_number,
      bill_of_lading_number: line.bill_of_lading_number && bill_of_lading_number,
      charged_from_on: from_on,
      charged_to_on: to_on,
      issued_on: to_on,
      amount: String(Number(line.daily_rate) * days),
    }
  })
  return warehouse.transaction('import invoices', (session) => storeInvoices(session, fitted))
}

interface Charged {
  readonly charge: string
  readonly container_number: string
  readonly bill_of_lading_number: string
  readonly from_on: string
  readonly to_on: string
  readonly days: number
}

/** The longest of each charge: the dates of the example are of another time. */
function findCharged(warehouse: Warehouse): Promise<Charged[]> {
  return warehouse.query(
    'find what is charged longest',
    sql<Charged>`select distinct on (charge) charge, container_number, bill_of_lading_number,
        min(charged_on)::text as from_on, max(charged_on)::text as to_on, count(*)::integer as days
    from ${relationRef('analytics.charged_days')}
    group by charge, container_number, bill_of_lading_number
    order by charge, count(*) desc, container_number`,
  )
}

function readExample(name: string): string {
  return readTextFile(projectFile(`config/${name}.example.csv`))
}
