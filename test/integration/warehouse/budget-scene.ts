import { silentLogger } from '../../../src/base/logger.js'
import { createSleep } from '../../../src/base/retry.js'
import {
  createSharedRequestBudget,
  type SharedRequestBudget,
  type SharedRequestBudgetOptions,
} from '../../../src/warehouse/coordination/shared-budget.js'
import { createWarehouse, type Warehouse } from '../../../src/warehouse/connection/warehouse.js'
import type { RowReader } from '../../support/row-reader.js'
import { createTestWarehouse } from '../../support/test-warehouse.js'
import { rawStatement } from '../../../src/warehouse/connection/typed-database.js'

export type BudgetChoice = Partial<SharedRequestBudgetOptions>

export interface BudgetScene extends RowReader {
  readonly warehouse: Warehouse
  readonly url: string
  /** A budget as one process has it, on the first pool unless a warehouse is given. */
  readonly budget: (choice?: BudgetChoice) => SharedRequestBudget
  /** Another process's connections. */
  readonly otherWarehouse: () => Warehouse
  /** Its server is not there. */
  readonly unreachableWarehouse: () => Warehouse
  /**
   * Milliseconds since the epoch of every grant of the account, on the database's clock, in order.
   */
  readonly grants: () => Promise<number[]>
  readonly close: () => Promise<void>
}

export const ACCOUNT = 'account'

/**
 * A warehouse that keeps a log of all grants, by a trigger: the row itself forgets what is older
 * than the window.
 */
export async function createBudgetScene(): Promise<BudgetScene> {
  const { url, drop, ...target } = await createTestWarehouse()
  const { warehouse } = target
  await warehouse.query('log the grants', rawStatement(LOG_GRANTS))
  const others: Warehouse[] = []
  const open = (address: string): Warehouse => {
    const other = createWarehouse({ url: address, schema: 'tracking', logger: silentLogger })
    others.push(other)
    return other
  }
  return {
    ...target,
    url,
    budget: (choice = {}) =>
      createSharedRequestBudget({
        warehouse,
        account: ACCOUNT,
        perMinute: 90,
        sleep: createSleep(),
        clock: () => new Date(),
        ...choice,
      }),
    otherWarehouse: () => open(url),
    // Port 1 answers nobody.
    unreachableWarehouse: () => open('postgres://nobody@127.0.0.1:1/nothing'),
    grants: () =>
      target.column<number>`
        select extract(epoch from granted_at)::float8 * 1000 from tracking_sync.grants
        where account = ${ACCOUNT} order by grant_number`,
    close: async () => {
      for (const other of others) await other.close()
      await drop()
    },
  }
}

const LOG_GRANTS = `
create unlogged table tracking_sync.grants (
    grant_number bigint generated always as identity,
    account text,
    granted_at timestamptz
);
create function tracking_sync.granted_at(budget tracking_sync.request_budget, instant timestamptz)
returns bigint
language sql as $$
    select coalesce(sum(used.syncs + used.others), 0)
    from unnest(budget.requested_at, budget.sync_requests, budget.other_requests)
        as used (requested_at, syncs, others)
    where used.requested_at = instant
$$;
create function tracking_sync.log_grant() returns trigger language plpgsql as $$
declare
    instant timestamptz := new.requested_at[cardinality(new.requested_at)];
begin
    insert into tracking_sync.grants (account, granted_at)
    select new.account, instant
    from generate_series(
        1,
        tracking_sync.granted_at(new, instant) - tracking_sync.granted_at(old, instant)
    );
    return null;
end
$$;
create trigger log_grant after update on tracking_sync.request_budget
for each row execute function tracking_sync.log_grant();`

/** The fullest window: how many grants it holds. */
export function mostInAnyWindow(grants: readonly number[], windowMs: number): number {
  return Math.max(
    ...grants.map((start) => grants.filter((ms) => ms >= start && ms < start + windowMs).length),
  )
}
