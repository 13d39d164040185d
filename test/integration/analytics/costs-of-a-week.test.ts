import { sql } from 'kysely'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { storeRulesFile } from '../../../src/extensions/answers/questions/free-time-rules.js'
import { parseRulesFile } from '../../../src/extensions/answers/questions/rules-file.js'
import { openLoadedWeek, type LoadedWeek } from '../../support/scenes/loaded-week.js'
import { setAsOf } from '../../support/set-as-of.js'

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

/**
 * The amounts of both views by container and currency. Exceptions leave out a charge that rules
 * alone name, and a merged clock while the container is on its way from the port to the ramp's
 * gate: it is neither at the port nor picked up.
 */
const BOTH = `
  select attention.exceptions, attention.amount as said, costs.amount
  from (
    select container_id, cost_currency_code as currency_code, sum(cost_amount) as amount,
      string_agg(distinct exception, ', ') as exceptions
    from tracking_as_of.attention
    where exception in ('overdue', 'empty_not_returned') and cost_amount is not null
    group by 1, 2
  ) as attention
  full join (
    select clock.container_id, clock.currency_code, sum(clock.cost_amount) as amount
    from tracking_as_of.costs as clock
    inner join tracking_as_of.container_stays as stay
      on stay.container_id = clock.container_id
      and stay.place = case clock.place when 'ramp' then 'ramp' else 'port' end
    where clock.state = 'overdue' and clock.charge <> 'plug_in' and clock.cost_amount is not null
      and not (clock.place = 'port' and stay.has_ended and not stay.is_out)
    group by 1, 2
  ) as costs using (container_id, currency_code)`

let scene: LoadedWeek

beforeAll(async () => {
  scene = await openLoadedWeek()
  const file = parseRulesFile('rules.csv', RULES)
  await scene.warehouse.transaction('import', (session) => storeRulesFile(session, file))
})
afterAll(() => scene.close())

/** Rows of a query at each look of the week. */
async function ofAllLooks<Row>(text: string): Promise<Row[]> {
  const found: Row[] = []
  for (const instant of scene.instants) {
    const rows = await scene.warehouse.transaction('ask', async (session) => {
      await setAsOf(session, instant)
      return session.query('ask', sql<Row & object>`${sql.raw(text)}`)
    })
    found.push(...rows)
  }
  return found
}

describe('costs and empties of a week', { tags: ['release'] }, () => {
  it.each([
    ['costs', 'container_id, place, charge, currency_code'],
    ['empties', 'container_id'],
  ])('%s have no two rows of one key', { tags: ['FE5'] }, async (view, key) => {
    const [counted] = await ofAllLooks<{ n: number; twice: number }>(
      `select coalesce(sum(n), 0)::integer as n, count(*) filter (where n > 1)::integer as twice
      from (select count(*) as n from tracking_as_of.${view} group by ${key}) as by_key`,
    )
    expect(counted!.twice).toBe(0)
    expect(counted!.n).toBeGreaterThan(50)
  })

  it('costs are those of the exceptions', { tags: ['FE5'] }, async () => {
    const rows = await ofAllLooks<{ exceptions: string; said: string; amount: string }>(BOTH)
    expect(rows.filter(({ said, amount }) => said !== amount)).toEqual([])
    expect(new Set(rows.map(({ exceptions }) => exceptions))).toEqual(
      new Set(['overdue', 'empty_not_returned']),
    )
    expect(rows.length).toBeGreaterThan(10)
  })

  it('empties have every container that was picked up or returned, once', async () => {
    const rows = await ofAllLooks<{ state: string; is_merged: boolean | null; n: number }>(
      `select back.state, bool_or(empty.charge = 'demurrage') as is_merged,
        count(empty.container_id)::integer as n
      from tracking_as_of.empty_return_times as back
      left join tracking_as_of.empties as empty using (container_id)
      where container_id not in (
        select container_id from tracking_as_of.tracked_twice where is_counted_elsewhere
      )
      group by back.container_id, back.state`,
    )
    expect(rows.filter(({ n }) => n !== 1)).toEqual([])
    expect(new Set(rows.map(({ is_merged }) => is_merged))).toEqual(new Set([true, false]))
    expect(rows.length).toBeGreaterThan(100)
  })
})
