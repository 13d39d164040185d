import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { nextDue } from '../../../src/extensions/accounts/serve/job-rhythm.js'

const QUARTER = { cron: '*/15 * * * *', timeZone: 'UTC' }
const QUARTER_MS = 900_000

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['Date'], now: new Date('2026-03-02T08:01:00Z') })
})

afterEach(() => {
  vi.useRealTimers()
})

const at = (text: string): Date => new Date(`2026-03-02T${text}Z`)

/** The clock of the schedule, which reads slots from now on. */
function due(account: string, now: Date, last?: Date): Date {
  vi.setSystemTime(now)
  return nextDue(QUARTER, account, now, last)
}

/** How far behind its slots the account is. */
const partOf = (account: string): number => due(account, at('08:00:00')).getTime() % QUARTER_MS

describe('when a job of an account is due next', () => {
  it('is spread over the period, each account at its own part of it, the same every time', () => {
    const parts = Array.from({ length: 200 }, (_, index) => partOf(`account-${index}`))
    expect(new Set(parts).size).toBeGreaterThan(190)
    // Of ten parts of the period, each has some of them.
    const tenths = new Set(parts.map((part) => Math.floor((part / QUARTER_MS) * 10)))
    expect(tenths.size).toBe(10)
    expect(partOf('account-7')).toBe(parts[7])
  })

  it('follows one period later; late, it is now, and in step again after that', () => {
    const first = due('acme', at('08:00:00'))
    const after = (date: Date, ms: number): Date => new Date(date.getTime() + ms)
    expect(due('acme', after(first, 20_000), first)).toEqual(after(first, QUARTER_MS))
    // Its time came while it ran.
    const late = after(first, QUARTER_MS + 60_000)
    expect(due('acme', late, first)).toEqual(late)
    expect(due('acme', after(late, 20_000), late)).toEqual(after(first, 2 * QUARTER_MS))
  })

  it('is so long after the end where it follows no cron', () => {
    const now = at('08:00:00')
    expect(nextDue({ everyMs: 300_000 }, 'acme', now, undefined)).toEqual(at('08:05:00'))
  })
})
