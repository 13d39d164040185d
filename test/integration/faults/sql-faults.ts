import type { Warehouse } from '../../../src/warehouse/connection/warehouse.js'
import { rawStatement } from '../../../src/warehouse/connection/typed-database.js'

/** PostgreSQL's own words, as its log shows them. */
const WORDS = {
  '53100': 'could not extend file "base/16384/16399": No space left on device',
  '40P01': 'deadlock detected',
  '40001': 'could not serialize access due to concurrent update',
  '55P03': 'canceling statement due to lock timeout',
  '42501': 'permission denied for table containers',
  XX000: 'duplicate key value violates unique constraint "containers_pkey_102008"',
} as const

export type InjectedState = keyof typeof WORDS

export interface SqlFaultOptions {
  readonly state: InjectedState
  /** `schema.table` of those whose writes fail. */
  readonly tables: readonly string[]
  /** How many writes fail, beginning with the first after `pass` others. For ever unless told. */
  readonly times?: number
  readonly pass?: number
}

export interface SqlFault {
  /** Writes that met it, those it let pass included. */
  met(): Promise<number>
  /** From now on every write succeeds; the triggers stay until `remove`. */
  end(): Promise<void>
  remove(): Promise<void>
}

const LONG = 1_000_000_000

/**
 * Makes writes fail with a SQLSTATE. Triggers raise it, once for each statement, so all that
 * follows from it is PostgreSQL's own doing; they count in a sequence, which no rollback turns
 * back.
 */
export async function injectSqlFault(
  warehouse: Pick<Warehouse, 'query'>,
  { state, tables, times = LONG, pass = 0 }: SqlFaultOptions,
): Promise<SqlFault> {
  const run = async <Row>(sqlText: string): Promise<Row[]> =>
    warehouse.query('inject a fault', rawStatement<Row>(sqlText))
  await run(`create sequence if not exists public.fault_count minvalue 0 start 0`)
  await run(`alter sequence public.fault_count restart`)
  await run(`create or replace function public.fail() returns trigger language plpgsql as $body$
declare nth bigint := nextval('public.fault_count');
begin
    if nth >= ${pass} and nth < ${pass + times} then
        raise exception using errcode = '${state}', message = '${WORDS[state]}';
    end if;
    return null;
end
$body$`)
  for (const table of tables) {
    await run(`create trigger fault before insert or update on ${table}
for each statement execute function public.fail()`)
  }
  return {
    met: async () => {
      const [row] = await run<{ met: number }>(
        `select case when is_called then last_value + 1 else 0 end as met from public.fault_count`,
      )
      return row?.met ?? 0
    },
    end: async () => {
      await run(`select setval('public.fault_count', ${2 * LONG})`)
    },
    remove: async () => {
      for (const table of tables) await run(`drop trigger if exists fault on ${table}`)
    },
  }
}
