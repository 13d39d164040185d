import { sql } from 'kysely'
import { z } from 'zod'
import { containerNumberProblem } from './container-number.js'
import type { Session } from '../../../warehouse/connection/warehouse.js'
import {
  amount,
  CHARGES,
  compareRows,
  currency,
  day,
  findTwice,
  identifier,
  name,
  oneOf,
  optionalIdentifier,
  readCsv,
  refuse,
  signedAmount,
  splitCsv,
  text,
  waitForOtherImports,
  whole,
  type BadLine,
  type ImportReport,
} from './csv-file.js'
import {
  columnList,
  type Statement,
  tableRef,
} from '../../../warehouse/connection/typed-database.js'

const neededDay = day.refine((cell): cell is string => cell !== null, 'is empty')

/**
 * Normalizes container numbers, which invoices print as `MSKU 000000-1` and people type in lower
 * case. The view cannot do it: it would have to read every container.
 */
const containerNumber = identifier
  .transform((cell) =>
    cell
      .normalize('NFKC')
      .toUpperCase()
      .replace(/[\s\p{P}\p{Cf}]/gu, ''),
  )
  .superRefine((cell, context) => {
    const [other] = /[^A-Z0-9]/u.exec(cell) ?? []
    if (cell !== '' && other === undefined) return
    const message =
      other === undefined
        ? 'must be a container number as MSKU0000001'
        : `has ${describeLetter(other)}, which is not valid in container numbers: type it again`
    context.addIssue({ code: 'custom', message })
  })

/** Names a character, since some look like letters of container numbers. */
function describeLetter(letter: string): string {
  const script = SCRIPTS.find((name) => new RegExp(`\\p{Script=${name}}`, 'u').test(letter))
  const code = letter.codePointAt(0)?.toString(16).toUpperCase().padStart(4, '0') ?? ''
  return `the ${script ?? 'character'} ${letter} (U+${code})`
}

const SCRIPTS = ['Cyrillic', 'Greek', 'Armenian', 'Cherokee']

/** The claims of a line, and the items that 46 CFR 541.6 requires of an invoice. */
const invoiceLine = z.object({
  invoice_number: identifier,
  line_number: whole(1, 100_000).refine((cell): cell is number => cell !== null, 'is empty'),
  issuer: name,
  charge: oneOf(...CHARGES),
  container_number: containerNumber,
  bill_of_lading_number: optionalIdentifier,
  charged_from_on: neededDay,
  charged_to_on: neededDay,
  amount: signedAmount.refine((cell): cell is string => cell !== null, 'is empty'),
  currency_code: currency,
  daily_rate: amount,
  issued_on: day,
  due_on: day,
  port_of_discharge: text,
  billed_because: text,
  free_days: whole(0, 365),
  free_from_on: day,
  free_to_on: day,
  available_on: day,
  rule_reference: optionalIdentifier,
  dispute_contact: text,
  dispute_url: text,
  dispute_within: text,
  certification: text,
  note: text,
  paid_amount: amount,
  paid_on: day,
})

const COLUMNS = Object.keys(invoiceLine.shape)

/** Later columns; a file may lack them. */
const LATER_COLUMNS = ['dispute_url', 'paid_amount', 'paid_on']

export type InvoiceLine = z.output<typeof invoiceLine>

/**
 * Reads a file of invoice lines: comma- or semicolon-separated values with a header, one line for
 * each charge of a container. Throws a ConfigError that names every bad line with its number.
 */
export function parseInvoices(fileName: string, csvText: string): InvoiceLine[] {
  const bad: BadLine[] = []
  const cells = splitCsv(fileName, csvText)
  const lines = readCsv(fileName, cells, invoiceLine, COLUMNS, bad, LATER_COLUMNS)
  for (const { line, value } of lines) {
    if (value.charged_to_on < value.charged_from_on) {
      bad.push({ line, reason: 'charged_to_on is before charged_from_on' })
    }
    if (Number(value.paid_amount) > 0 && Number(value.amount) <= 0) {
      bad.push({ line, reason: 'paid_amount is for a claim, and amount is not above zero' })
    }
    if (value.paid_on !== null && value.paid_amount === null) {
      bad.push({ line, reason: 'paid_on is given without paid_amount' })
    }
  }
  bad.push(
    ...findTwice(
      lines,
      ({ issuer, invoice_number, line_number }) =>
        `line ${line_number} of invoice ${invoice_number} of ${issuer}`,
    ),
  )
  refuse(fileName, bad)
  return lines.map(({ value }) => value)
}

/** Notes on accepted lines that deserve a look. */
export function notesOf(lines: readonly InvoiceLine[]): string[] {
  const numbers = [...new Set(lines.map((line) => line.container_number))]
  return numbers.flatMap((number) => {
    const problem = containerNumberProblem(number)
    return problem === undefined ? [] : [`container ${number} ${problem}`]
  })
}

/**
 * Replaces the invoices with the issuers and numbers of the file; others stay. Call it in a
 * transaction: all or nothing. Idempotent.
 */
export async function storeInvoices(
  session: Session,
  lines: readonly InvoiceLine[],
): Promise<ImportReport> {
  const table = tableRef('analytics.dd_invoices')
  const isNamed = sql`(issuer, invoice_number) in (select * from unnest(
    ${lines.map(({ issuer }) => issuer)}::text[],
    ${lines.map((line) => line.invoice_number)}::text[]
))`
  const read = async () => {
    const rows = await session.query(
      'read the invoices',
      sql<{ key: string; said: string }>`select
    jsonb_build_array(issuer, invoice_number, line_number)::text as key,
    to_jsonb(stored)::text as said
from ${table} as stored
where ${isNamed}`,
    )
    return new Map(rows.map(({ key, said }) => [key, said]))
  }
  await waitForOtherImports(session, 'dd_invoices')
  const before = await read()
  await session.query('remove the invoices', sql`delete from ${table} where ${isNamed}`)
  await session.query(
    'store the invoices',
    sql`insert into ${table}
select given.* from jsonb_populate_recordset(null::${table}, ${JSON.stringify(lines)}::jsonb) as given`,
  )
  const after = await read()
  return {
    kind: 'invoice lines',
    total: after.size,
    ...compareRows(before, after),
    warnings: [
      ...notesOf(lines),
      ...(await findLostZeros(session)),
      ...(await findUnknownContainers(session)),
    ],
  }
}

/**
 * Finds numbers that lost their leading zeros in a spreadsheet: such an invoice is stored twice.
 */
async function findLostZeros(session: Session): Promise<string[]> {
  const rows = await session.query(
    'look for invoice numbers without their zeros',
    sql<{
      note: string
    }>`select 'invoice ' || min(invoice_number) || ' of ' || issuer || ' is there as '
    || max(invoice_number) || ' too: did a spreadsheet remove its zeros?' as note
from ${tableRef('analytics.dd_invoices')}
where invoice_number ~ '^[0-9]+$'
group by issuer, ltrim(invoice_number, '0')
having min(invoice_number) <> max(invoice_number)
order by note`,
  )
  return rows.map(({ note }) => note)
}

async function findUnknownContainers(session: Session): Promise<string[]> {
  const rows = await session.query(
    'look for containers of invoices',
    sql<{ number: string }>`select distinct invoice.container_number as number
from ${tableRef('analytics.dd_invoices')} as invoice
where not exists (
    select from ${tableRef('data.containers')} as container
    where container.number = invoice.container_number
)
order by number`,
  )
  return rows.map(({ number }) => `the warehouse has no container ${number}`)
}

/** A statement whose answer, as comma-separated values, can be imported again. */
export function exportInvoices(): Statement<unknown> {
  return sql`select ${columnList(COLUMNS)}
from ${tableRef('analytics.dd_invoices')}
order by issuer, invoice_number, line_number`
}
