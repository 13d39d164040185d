import { sql } from 'kysely'
import { readFile } from 'node:fs/promises'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { storeRulesFile } from '../../../src/extensions/answers/questions/free-time-rules.js'
import { parseRulesFile } from '../../../src/extensions/answers/questions/rules-file.js'
import { knownAt, knownNow } from '../../support/snapshot-as-of.js'
import { loadTables } from '../../support/snapshot-tables.js'
import { openLoadedWeek, type LoadedWeek } from '../../support/scenes/loaded-week.js'
import { setAsOf } from '../../support/set-as-of.js'

/** Of cross-checks.sql. */
interface CrossCheck {
  readonly name: string
  readonly one: string
  readonly other: string
  /** Compares with a table that knows the present only. */
  readonly isOfNow: boolean
  /** No other test proves it. */
  readonly isMarked: boolean
}

const TEXT = await readFile(new URL('cross-checks.sql', import.meta.url), 'utf8')
const CHECKS: readonly CrossCheck[] = TEXT.split('\n-- check: ')
  .slice(1)
  .map((text) => {
    const [name = '', ...lines] = text.split('\n')
    const [one = '', other = ''] = lines
      .filter((line) => !line.startsWith('--'))
      .join('\n')
      .split(';')
    const [isOfNow, isMarked] = ['-- of now', '-- in every run'].map((line) => lines.includes(line))
    return { name, one, other, isOfNow: isOfNow!, isMarked: isMarked! }
  })

/** Short free days, so that much is over within a week; the clocks of two lines are merged. */
const RULES = `rule,charge,line,place,free_days,starts_with,from_day,daily_rate,currency,until
storage,storage,,port,1,discharge,1,40,USD,
ramp,storage,,ramp,1,arrival,1,30,USD,
line,demurrage,,port,1,discharge,1,100,USD,
line,demurrage,,port,1,discharge,4,150,USD,
merged Maersk,demurrage,MAEU,,1,discharge,1,70,USD,empty_return
merged Hapag,demurrage,HLCU,,1,discharge,1,75,USD,empty_return
empties,detention,,,1,gate_out,1,120,USD,
power,plug_in,MSCU,port,0,discharge,1,9,CAD,
`

let scene: LoadedWeek
let earlier: string
let latest: string

beforeAll(async () => {
  scene = await openLoadedWeek()
  const rules = parseRulesFile('rules.csv', RULES)
  await scene.warehouse.transaction('import', (session) => storeRulesFile(session, rules))
  earlier = scene.instants.at(-4)!
  latest = scene.instants.at(-1)!
})

afterAll(() => scene.close())

/** Rows of one query that the other lacks, and how many were compared. */
async function contradict(
  check: CrossCheck,
  asOf: string,
): Promise<{ compared: number; differing: unknown[] }> {
  return scene.warehouse.transaction('ask both', async (session) => {
    const inSchema = (text: string): string =>
      asOf === '' ? text : text.replaceAll(/tracking_(?:analytics|parts)\./g, 'tracking_as_of.')
    const one = inSchema(check.one)
    const other = inSchema(check.other)
    await setAsOf(session, asOf)
    const [counted] = await session.query(
      'count',
      sql<{
        compared: number
      }>`select count(*)::integer as compared from (${sql.raw(one)}) as asked`,
    )
    const differing = await session.query(
      'compare',
      sql`with one as (${sql.raw(one)}), other as (${sql.raw(other)})
      (table one except all table other) union all (table other except all table one) limit 5`,
    )
    return { compared: counted!.compared, differing }
  })
}

/** Former names, proved nowhere else: they have the rows of what took their place. */
const FORMER =
  /\.(?:arrivals_calendar|carrier_scorecards|date_corrections|eta_accuracy|fee_history|hold_durations|status_durations|terminal_dwell|transit_times)\b/
const isInEveryRun = ({ one, other, isMarked }: CrossCheck): boolean =>
  isMarked || FORMER.test(`${one} ${other}`)

async function agree(check: CrossCheck): Promise<void> {
  for (const asOf of check.isOfNow ? [''] : ['', latest, earlier]) {
    const { compared, differing } = await contradict(check, asOf)
    expect(differing, `as of ${asOf || 'now'}`).toEqual([])
    expect(compared, `as of ${asOf || 'now'}`).toBeGreaterThan(0)
  }
}

describe('views that look at the same facts agree', () => {
  it.each(CHECKS.filter(isInEveryRun))('$name', agree)
  it.each(CHECKS.filter((check) => !isInEveryRun(check)))('$name', { tags: ['release'] }, agree)

  it('the histories add up to the present', async () => {
    const tables = await loadTables(scene.warehouse)
    const now = knownNow(tables)
    expect(now.size).toBeGreaterThan(100)
    expect([...knownAt(tables, 4_102_444_800_000_000n)].sort()).toEqual([...now].sort())
  })
})
