import { expect, it } from 'vitest'
import { useAnalyticsScene } from '../../support/analytics-scene.js'
import { insertKnown } from '../../support/insert-known.js'

const scene = useAnalyticsScene()

const CUSTOMER = {
  customer_name: 'Acme',
  ref_numbers_text: 'BOX 1, PO 1, PO 2',
  tags_text: 'urgent, "a, b"',
  custom_fields: { colour: 'Red', depth: 3, region: 'west' },
}

it('shows whose a container is, its own field before that of its shipment', async () => {
  await insertKnown(scene, 'shipments', [
    {
      shipment_id: 's1',
      customer_name: 'Acme',
      ref_numbers: ['PO 1', 'PO 2'],
      tags: ['urgent', '"a, b"'],
    },
  ])
  await insertKnown(scene, 'containers', [
    { container_id: 'c1', shipment_id: 's1', ref_numbers: ['BOX 1'] },
    { container_id: 'c2' },
  ])
  const field = (entity_id: string, api_slug: string, value: unknown, display_value?: string) => ({
    custom_field_id: `${entity_id} ${api_slug}`,
    entity_id,
    api_slug,
    value: JSON.stringify(value),
    display_value,
  })
  await scene.insert('custom_fields', [
    field('s1', 'region', 'east'),
    field('c1', 'region', 'west'),
    field('c1', 'colour', 'red', 'Red'),
    field('s1', 'depth', 3),
    { ...field('c1', 'gone', 'x'), _deleted_at: '2026-03-01T00:00:00Z' },
  ])
  const rest = 'order by container_id'
  for (const asOf of ['', '2026-02-01T00:00:00Z']) {
    expect(await scene.read('container_customers', { rest, asOf })).toEqual([
      {
        container_id: 'c1',
        ...CUSTOMER,
        container_ref_numbers: ['BOX 1'],
        shipment_ref_numbers: ['PO 1', 'PO 2'],
        tags: ['urgent', '"a, b"'],
      },
      {
        container_id: 'c2',
        customer_name: null,
        container_ref_numbers: null,
        shipment_ref_numbers: null,
        ref_numbers_text: null,
        tags: null,
        tags_text: null,
        custom_fields: null,
      },
    ])
  }
})

it('is in every view that has containers', async () => {
  const views = await scene.query(
    `select table_name as name, count(*) filter (where column_name = any($1))::int as found
    from information_schema.columns
    where table_schema = 'tracking_analytics'
      -- Bases of other views, which add the customer.
      and table_name not in (
        'known_milestones', 'journey_facts', 'clock_days', 'invoice_clocks', 'invoice_days',
        'invoice_shares', 'expected_arrivals'
      )
    group by table_name
    having bool_or(column_name = 'container_id')
      and bool_or(column_name = 'container_number')`,
    [Object.keys(CUSTOMER)],
  )
  expect(views.filter(({ found }) => found !== 4)).toEqual([])
  expect(views.length).toBeGreaterThan(20)
})
