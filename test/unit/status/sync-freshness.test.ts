import { describe, expect, it } from 'vitest'
import { isSyncDue, isSyncOverdue } from '../../../src/status/read-vitals.js'

const slots = { cron: '*/15 * * * *', timeZone: 'UTC' }
const aged = (minutes: number | null) => ({
  beganAt: minutes === null ? null : '2026-03-08 10:00:00+00',
  ageSeconds: minutes === null ? null : minutes * 60,
})

describe('the last complete sync', () => {
  it('is made up for when it began before the last slot, or never', { tags: ['X6'] }, () => {
    expect([14, 15, 16, 500, null].map((age) => isSyncDue(aged(age), slots))).toEqual([
      false,
      false,
      true,
      true,
      true,
    ])
  })

  it('is overdue when it is older than two slots', () => {
    expect([16, 29, 31, null].map((age) => isSyncOverdue(aged(age), slots))).toEqual([
      false,
      false,
      true,
      true,
    ])
  })

  it('is neither where no schedule says so', () => {
    const off = { cron: 'off', timeZone: 'UTC' }
    expect([isSyncDue(aged(null), off), isSyncOverdue(aged(null), off)]).toEqual([false, undefined])
  })
})
