import { sql } from 'kysely'
import type { Warehouse } from '../../../warehouse/connection/warehouse.js'
import { relationRef } from '../../../warehouse/connection/typed-database.js'

/** How the last free days by a rule compare with the reported ones: clocks by difference. */
export interface RuleComparison {
  readonly rule: string
  readonly clocks: number
  readonly same: number
  /** Largest first. */
  readonly differences: readonly { readonly difference: string; readonly clocks: number }[]
}

const MEANINGS: Readonly<Record<string, string>> = {
  unknown_start: 'without the day on which the clock starts',
  first_day: 'would agree with the other first_day',
  working_days: 'would agree if counts were working',
  calendar_days: 'would agree if counts were calendar',
  more_days: 'later, as after an extension',
  fewer_days: 'earlier',
}

/** Compares every rule that names free days, by name. Reads all clocks; seconds at most. */
export async function compareRules({
  query,
}: Pick<Warehouse, 'query'>): Promise<readonly RuleComparison[]> {
  const rows = await query(
    'compare the rules',
    sql<{
      rule: string
      difference: string
      clocks: number
    }>`select rule_name as rule, difference, count(*)::integer as clocks
from ${relationRef('analytics.rule_comparisons')}
group by rule_name, difference
order by rule_name, clocks desc, difference`,
  )
  const rules = [...new Set(rows.map(({ rule }) => rule))]
  return rules.map((rule) => {
    const own = rows.filter((row) => row.rule === rule)
    const count = (of: typeof own) => of.reduce((sum, { clocks }) => sum + clocks, 0)
    const isSame = ({ difference }: (typeof own)[number]) => difference === 'same'
    return {
      rule,
      clocks: count(own),
      same: count(own.filter(isSame)),
      differences: own
        .filter((row) => !isSame(row))
        .map(({ difference, clocks }) => ({ difference, clocks })),
    }
  })
}

/** One rule in one sentence. */
export function sayComparison({ rule, clocks, same, differences }: RuleComparison): string {
  const others = differences.map(
    ({ difference, clocks: count }) => `${count} ${MEANINGS[difference] ?? difference}`,
  )
  return `${rule}: ${same} of ${clocks} reported days agree${others.map((one) => `; ${one}`).join('')}.`
}
