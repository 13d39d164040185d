import { describe, expect, it } from 'vitest'
import { isSyncDue, isSyncOverdue, type EndedRun } from '../../../src/status/read-vitals.js'

const slots = { cron: '*/15 * * * *', timeZone: 'UTC' }
const aged = (minutes: number | null) => ({
  beganAt: minutes === null ? null : '2026-03-08 10:00:00+00',
  ageSeconds: minutes === null ? null : minutes * 60,
})
const run: EndedRun = {
  syncRunId: 1,
  command: 'sync',
  outcome: 'failed',
  seconds: 1,
  problem: null,
  rows: {},
}

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
    const vitals = (age: number) => ({ freshness: aged(age), lastRun: null, isRunUnderWay: true })
    expect([16, 29, 31].map((age) => isSyncOverdue(vitals(age), slots))).toEqual([
      false,
      false,
      true,
    ])
  })

  it.each([
    ['nothing has run, and serve has just started', null, false, 10, false],
    ['the first run is under way', null, true, 5_000, false],
    ['nothing has begun for two slots of serve', null, false, 1_801, true],
    ['the first run has ended, not complete', run, false, 10, true],
  ])(
    'is overdue where there was none only after the first run had its chance: %s',
    { tags: ['JE3'] },
    (_what, lastRun, isRunUnderWay, servingSeconds, isOverdue) => {
      const vitals = { freshness: aged(null), lastRun, isRunUnderWay }
      expect(isSyncOverdue(vitals, slots, servingSeconds)).toBe(isOverdue)
    },
  )

  it('is neither where no schedule says so', () => {
    const off = { cron: 'off', timeZone: 'UTC' }
    const vitals = { freshness: aged(null), lastRun: run, isRunUnderWay: false }
    expect([isSyncDue(aged(null), off), isSyncOverdue(vitals, off)]).toEqual([false, undefined])
  })
})
