import { afterAll, beforeAll, expect, test } from 'vitest'
import { createTestWarehouse, type TestWarehouse } from '../../support/test-warehouse.js'

let scene: TestWarehouse

beforeAll(async () => {
  scene = await createTestWarehouse({ isMigrated: false })
})

afterAll(async () => {
  await scene.drop()
})

test(
  'the server is told to notice within a minute that we are gone',
  { tags: ['C9'] },
  async () => {
    const rows = await scene.warehouse.query<{ name: string; seconds: number }>(
      'read the settings',
      `select name, case unit when 'ms' then setting::integer / 1000 else setting::integer end as seconds
from pg_settings
where name in (
    'client_connection_check_interval',
    'tcp_keepalives_idle',
    'tcp_keepalives_interval',
    'tcp_keepalives_count'
)`,
    )
    expect(Object.fromEntries(rows.map(({ name, seconds }) => [name, seconds]))).toEqual({
      client_connection_check_interval: 10,
      tcp_keepalives_idle: 30,
      tcp_keepalives_interval: 10,
      tcp_keepalives_count: 3,
    })
  },
)
