import { expect, it } from 'vitest'
import { ListOrder } from '../../../../src/webhooks/reconcile/reconcile.js'

const day = (number: number): string => `2026-03-0${number}T00:00:00Z`

it.each<[string, (string | null)[][], boolean]>([
  ['newest first', [[day(3), day(2)], [day(1)]], true],
  ['newest first with equal instants', [[day(3), day(3)], [day(1)]], true],
  ['newest first in two zones', [['2026-03-03T01:30:00+02:00', '2026-03-02T23:00:00Z']], true],
  ['oldest first', [[day(1), day(2)], [day(3)]], false],
  ['newest first on one page, and not from page to page', [[day(2), day(1)], [day(3)]], false],
  ['newest first again after a break', [[day(1), day(3), day(2)], [day(1)]], false],
  ['of one record, which proves nothing', [[day(1)]], false],
  ['of equal instants, which prove nothing', [[day(1), day(1)]], false],
  ['with a record that has no instant', [[day(3), null, day(1)]], false],
  ['empty', [[]], false],
])('a list %s', (_, pages, isNewestFirst) => {
  const order = new ListOrder()
  for (const page of pages) order.follow(page)
  expect(order.isNewestFirst).toBe(isNewestFirst)
})
