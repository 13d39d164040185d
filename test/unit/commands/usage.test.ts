import type { Command } from 'commander'
import { describe, expect, it } from 'vitest'
import { EXIT_CODES } from '../../../src/base/exit-code.js'
import { describeProgram } from '../../../src/commands/program.js'
import { fakeProcess } from '../../../scripts/documents/pages.js'
import { callCli } from '../../support/call-cli.js'

/** Every flag of every command. */
function flagsOf({ options, commands }: Command): string[] {
  const own = options.flatMap(({ flags }) => flags.match(/--[a-z-]+/g) ?? [])
  return [...own, ...commands.flatMap(flagsOf)]
}

describe('the help', () => {
  it('tells the variable and the default of each setting', { tags: ['FD11'] }, async () => {
    const { stdout } = await callCli(['sync', '--help'], {})
    const help = stdout.replaceAll(/\s+/g, ' ')
    expect(help).toContain('(TRACKING_RATE_LIMIT_PER_MINUTE; default: 90)')
    expect(help).toContain('(TRACKING_ALLOW_INSECURE_API_URL; default: false)')
    expect(help).toContain('(TRACKING_API_URL)')
    expect(help).not.toContain('preset')
  })

  it('of the program tells every exit code', async () => {
    const { stdout } = await callCli(['--help'], {})
    const [, codes = ''] = stdout.split('\nExit codes:\n')
    for (const code of [...Object.values(EXIT_CODES), 129, 130, 143]) {
      expect(codes).toMatch(new RegExp(`(?:^|\\s)${code}\\b`))
    }
  })

  it('offers no flag for a secret', { tags: ['S4'] }, async () => {
    const flags = flagsOf(await describeProgram(fakeProcess()))
    expect(new Set(flags).size).toBeGreaterThan(100)
    // These hand a secret out; none takes one.
    const taking = flags.filter(
      (flag) => !['--show-secret', '--secret-file', '--makes-secrets'].includes(flag),
    )
    expect(taking.filter((flag) => /key|secret|password|token|url$/.test(flag))).toEqual(
      taking.filter((flag) => /^--(?:(?:(?:allow-insecure-)?api|webhook)-)?url$/.test(flag)),
    )
  })
})
