import { formatSeconds } from '../../../base/phrases.js'
import { cellText } from '../../../commands/output/print-table.js'

/**
 * Object ids of PostgreSQL's number types: 2, 4 and 8 bytes, numeric, and the two floating ones.
 */
export const NUMERIC_TYPES = new Set([20, 21, 23, 1700, 700, 701])
export const NUMERIC = 1700

/** `fee_amount` is in `fee_currency_code`; any other amount in `currency_code`. */
export function currencyColumn(columns: readonly string[], name: string): number | undefined {
  if (!isAmount(name)) return undefined
  const own = name.endsWith('amount')
    ? columns.indexOf(name.replace(/amount$/, 'currency_code'))
    : -1
  const shared = columns.indexOf('currency_code')
  const index = own === -1 ? shared : own
  return index === -1 ? undefined : index
}

function isAmount(name: string): boolean {
  return /(?:^|_)amount(?:_|$)/.test(name)
}

/** Keeps every digit. `isWithCurrency`: `212.50 CAD`. */
export function asMoney(text: string, currency: unknown, isWithCurrency = false): string {
  const [, whole = '', digits = ''] = /^(-?\d+)(?:\.(\d*))?$/.exec(text) ?? []
  if (whole === '') return text
  const decimals = digits.replace(/0+$/, '').padEnd(decimalsOf(currency), '0')
  const number = decimals === '' ? whole : `${whole}.${decimals}`
  const code = isWithCurrency ? cellText(currency) : ''
  return code === '' ? number : `${number} ${code}`
}

/** `failed_requests_share`, `milestone_completeness`: numbers from 0 to 1. */
export function isShare(name: string): boolean {
  return /(?:^|_)(?:share|completeness)$/.test(name)
}

/** `77.8 %`: rounded, but never to 0 % or 100 % unless exact. */
export function asPercent(text: string): string {
  const share = Number(text)
  if (text === '' || Number.isNaN(share)) return text
  const rounded = Math.round(share * 1_000) / 10
  if (rounded === 100 && share < 1) return '99.9 %'
  return rounded === 0 && share > 0 ? '0.1 %' : `${rounded} %`
}

/** `16 min`, from a number of units of `secondsEach`. */
export function asAge(text: string, secondsEach: number): string {
  const seconds = Number(text) * secondsEach
  return text === '' || Number.isNaN(seconds) ? text : formatSeconds(seconds)
}

const MOST_CURRENCIES = 300
const decimals = new Map<unknown, number>()

function decimalsOf(currency: unknown): number {
  const known = decimals.get(currency)
  if (known !== undefined) return known
  const count = /^[A-Z]{3}$/.test(String(currency))
    ? (new Intl.NumberFormat('en', {
        style: 'currency',
        currency: String(currency),
      }).resolvedOptions().maximumFractionDigits ?? 2)
    : 2
  if (decimals.size < MOST_CURRENCIES) decimals.set(currency, count)
  return count
}

const SCALE = 6

/** Exact sums of columns, money by currency. */
export class Totals {
  readonly #summed: readonly { readonly index: number; readonly currency: number | undefined }[]
  /** By currency ('' for other numbers), then by column. */
  readonly #sums = new Map<string, Map<number, bigint>>()

  constructor(columns: readonly string[], sums: readonly string[]) {
    this.#summed = sums.flatMap((name) => {
      const index = columns.indexOf(name)
      const currency = currencyColumn(columns, name)
      // Without its currency among the columns, a sum would add dollars to euros.
      const isMixed = isAmount(name) && currency === undefined
      return index === -1 || isMixed ? [] : [{ index, currency }]
    })
  }

  add(row: readonly unknown[]): void {
    for (const { index, currency } of this.#summed) {
      const amount = scaled(cellText(row[index]))
      if (amount === undefined) continue
      const key = currency === undefined ? '' : cellText(row[currency]) || 'no currency'
      const sums = this.#sums.get(key) ?? new Map<number, bigint>()
      this.#sums.set(key, sums.set(index, (sums.get(index) ?? 0n) + amount))
    }
  }

  /** `column in currency`, or the column alone, with its sum in millionths. */
  list(columns: readonly string[]): ReadonlyMap<string, bigint> {
    return new Map(
      [...this.#sums].flatMap(([currency, sums]) =>
        [...sums].map(([index, sum]): [string, bigint] => {
          const name = columns[index] ?? ''
          return [currency === '' ? name : `${name} in ${currency}`, sum]
        }),
      ),
    )
  }

  rows(
    isShown: (index: number) => boolean,
    isWithCurrency = false,
  ): { label: string; cells: string[] }[] {
    return [...this.#sums].sort().flatMap(([currency, sums]) => {
      const cells: string[] = []
      for (const [index, sum] of sums) {
        if (isShown(index))
          cells[index] =
            currency === '' ? plain(sum) : asMoney(plain(sum), currency, isWithCurrency)
      }
      const label = isWithCurrency ? 'total' : `total ${currency}`.trimEnd()
      return cells.length === 0 ? [] : [{ label, cells }]
    })
  }
}

/** In millionths; undefined for a text that is not a plain number. Cuts digits after the sixth. */
export function scaled(text: string): bigint | undefined {
  const [, sign = '', whole = '', digits = ''] = /^(-?)(\d+)(?:\.(\d{0,6})\d*)?$/.exec(text) ?? []
  return whole === '' ? undefined : BigInt(`${sign}${whole}${digits.padEnd(SCALE, '0')}`)
}

/** The text of an amount in millionths, without trailing zeros. */
export function plain(amount: bigint): string {
  const digits = String(amount < 0n ? -amount : amount).padStart(SCALE + 1, '0')
  const text = `${digits.slice(0, -SCALE)}.${digits.slice(-SCALE)}`.replace(/\.?0+$/, '')
  return amount < 0n ? `-${text}` : text
}
