import { DAY, HOUR } from '../world/local-time.js'
import { valueAt } from './estimates.js'
import type { TerminalStay } from './terminal-stay.js'

interface Fee {
  readonly type: 'demurrage' | 'exam' | 'extended_dwell_time' | 'other' | 'total'
  readonly amount: number
  readonly currency_code: string
  /** More of the terminal's own words, where it has any. */
  readonly description?: string
}

/** After these days demurrage doubles. */
const FIRST_TIER_DAYS = 4
const DWELL_FEE_AFTER_DAYS = 6

/**
 * The fees at an instant, `total` last. Demurrage grows by a whole day at each local midnight after
 * the last free day and stops when the container leaves; twelve hours later the terminal lists no
 * fee.
 */
export function feesAt(stay: TerminalStay, at: number): Fee[] {
  if (at < stay.dischargedAt || at >= stay.leftAt + 12 * HOUR) return []
  const until = Math.min(at, stay.leftAt)
  const fees: Fee[] = []
  const add = (type: Fee['type'], amount: number, description?: string): void => {
    fees.push({
      type,
      // Cents: a sum of decimals must not show the binary rest.
      amount: Math.round(amount * 100) / 100,
      currency_code: stay.currency,
      ...(description === undefined ? {} : { description }),
    })
  }
  const days = demurrageDays(stay, until)
  if (days > 0) {
    const doubled = Math.max(0, days - FIRST_TIER_DAYS)
    add('demurrage', stay.dailyDemurrage * (days + doubled))
  }
  const exam = stay.holds.find(({ isExam }) => isExam)
  if (stay.examFee !== undefined && exam !== undefined && until >= exam.clearedAt) {
    add('exam', stay.examFee)
  }
  const dwellDays = (until - stay.dischargedAt) / DAY
  if (stay.extendedDwellFee !== undefined && dwellDays >= DWELL_FEE_AFTER_DAYS) {
    add('extended_dwell_time', stay.extendedDwellFee)
  }
  if (stay.otherFee !== undefined && dwellDays >= 1) {
    add('other', stay.otherFee, 'Flip and chassis split')
  }
  if (fees.length > 0)
    add(
      'total',
      fees.reduce((sum, { amount }) => sum + amount, 0),
    )
  return fees
}

function demurrageDays(stay: TerminalStay, at: number): number {
  const lastFreeDay = valueAt(stay.lfdTerminal, at)
  if (lastFreeDay === undefined) return 0
  return Math.max(0, Math.floor((at - lastFreeDay) / DAY))
}
