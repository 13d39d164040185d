import { describe, expect, it } from 'vitest'
import { allSettings } from '../../../src/config/settings.js'
import { EXIT_CODES } from '../../../src/base/exit-code.js'
import { runInProcess } from './fake-process.js'

const COMMON = [
  '--help',
  '--config',
  '--account',
  '--home',
  '--schema',
  '--allow-insecure-database',
  '--strict',
  '--log-level',
  '--log-format',
]
/** Of commands that can be for every account. */
const FOR_ALL = ['--all']
const SERVICE = [
  '--json',
  '--service',
  '--api-url',
  '--rate-limit',
  '--full-sync-hours',
  '--vessel-positions',
  '--raw-events',
  '--sensitive-fields',
  '--migrate',
  '--allow-insecure-api-url',
]
const WEBHOOKS = [...COMMON, '--json', '--service', '--api-url', '--allow-insecure-api-url']
const SIMULATE = [
  '--json',
  '--port',
  '--host',
  '--shipments',
  '--seed',
  '--speed',
  '--start',
  '--requests-per-minute',
  '--largest-page',
  '--includes',
  '--webhook',
  '--webhook-drop',
  '--webhook-duplicate',
  '--webhook-thin',
  '--webhook-delay',
  '--makes-secrets',
]
/** Flags of `query` that narrow a shipped question. */
const NARROWING = [
  '--container',
  '--shipment',
  '--customer',
  '--ref',
  '--tag',
  '--custom-field',
  '--line',
  '--port',
  '--terminal',
  '--cut',
  '--at-least',
  '--since',
  '--until',
  '--limit',
]
const SERVE = [
  '--worker',
  '--host',
  '--hosts',
  '--port',
  '--webhook-path',
  '--webhook-url',
  '--webhook-ids',
  '--trusted-proxy-hops',
  '--sync-cron',
  '--cron-time-zone',
  '--run-minutes',
]
/** Of commands that send alerts. */
const ALERTS = ['--alert-smtp-from', '--alert-smtp-to', '--alert-kinds', '--cron-time-zone']
const without = (...flags: readonly string[]): string[] =>
  SERVICE.filter((flag) => !flags.includes(flag))
const ALL_SETTINGS = allSettings.flatMap(({ flag }) => flag ?? [])

/** Every command with every flag it takes: a new one is added here, or the test fails. */
const COMMANDS: readonly (readonly [string, readonly string[]])[] = [
  ['demo', [...COMMON, '--shipments']],
  ['init', [...WEBHOOKS, '--webhook-url', '--embedded']],
  ['check', [...WEBHOOKS, '--webhook-url', '--webhook-ids']],
  ['migrate', [...COMMON, ...FOR_ALL, '--json', '--roles', '--customers', '--drop-customers']],
  ['plan', [...COMMON, ...SERVICE]],
  [
    'backfill',
    [
      ...COMMON,
      ...FOR_ALL,
      ...SERVICE,
      ...ALERTS,
      '--run-minutes',
      '--accept-shrink',
      '--accept-account',
      '--on-finish',
      '--stream',
      '--shipment',
      '--container',
    ],
  ],
  [
    'sync',
    [
      ...COMMON,
      ...FOR_ALL,
      ...SERVICE,
      ...ALERTS,
      '--run-minutes',
      '--accept-shrink',
      '--accept-account',
      '--on-finish',
      '--full',
    ],
  ],
  [
    'serve',
    [
      ...COMMON,
      ...FOR_ALL,
      ...without('--json'),
      ...SERVE,
      ...ALERTS,
      '--no-receiver',
      '--no-processor',
      '--no-scheduler',
      '--insecure-no-signature',
    ],
  ],
  [
    'dashboard',
    [...COMMON, '--rate-limit', '--host', '--hosts', '--port', '--sync-cron', '--cron-time-zone'],
  ],
  ['store-views', [...COMMON, '--json', '--migrate']],
  ['status', [...COMMON, ...FOR_ALL, '--json']],
  ['alerts list', [...COMMON, '--json']],
  ['alerts test', [...COMMON, '--json', '--alert-smtp-from', '--alert-smtp-to']],
  ['alerts resend', [...COMMON, '--json']],
  ['verify', [...COMMON, ...without('--full-sync-hours'), '--sample', '--seed']],
  ['quarantine list', [...COMMON, '--json', '--stream', '--limit']],
  ['quarantine show', [...COMMON, '--json']],
  ['quarantine retry', [...COMMON, ...SERVICE, '--run-minutes', '--all', '--stream']],
  ['quarantine drop', [...COMMON, '--json', '--all', '--stream']],
  [
    'replay',
    [
      ...COMMON,
      '--json',
      '--migrate',
      '--all',
      '--dry-run',
      '--event',
      '--since',
      '--state',
      '--until',
    ],
  ],
  ['webhooks list', [...WEBHOOKS, '--webhook-url', '--webhook-ids']],
  [
    'webhooks create',
    [...WEBHOOKS, '--url', '--again', '--write', '--show-secret', '--secret-file'],
  ],
  ['webhooks enable', [...WEBHOOKS, '--events', '--sign', '--show-secret', '--secret-file']],
  ['webhooks events', [...WEBHOOKS]],
  ['webhooks ips', WEBHOOKS],
  ['webhooks failed', [...WEBHOOKS, '--limit']],
  [
    'webhooks trigger',
    [...WEBHOOKS, '--event', '--to', '--listen', '--timeout', '--webhook-url', '--webhook-path'],
  ],
  [
    'webhooks reconcile',
    [...WEBHOOKS, '--rate-limit', '--migrate', '--webhook-url', '--webhook-ids'],
  ],
  [
    'custom-fields set',
    [...WEBHOOKS, '--json-value', '--of', '--sensitive-fields', '--rate-limit', '--migrate'],
  ],
  [
    'query',
    [
      ...COMMON,
      ...NARROWING,
      '--json',
      '--explain',
      '--format',
      '--out',
      '--against',
      '--as-of',
      '--timeout',
      '--spreadsheet-safe',
      '--excel',
      '--columns',
      '--wide',
      '--vertical',
      '--all',
    ],
  ],
  ['rules check', ['--help', '--config', '--json']],
  ['rules import', [...COMMON, '--migrate', '--json']],
  ['rules export', [...COMMON, '--migrate', '--holidays']],
  ['invoices check', ['--help', '--config', '--json']],
  ['invoices import', [...COMMON, '--migrate', '--json']],
  ['invoices export', [...COMMON, '--migrate']],
  ['evidence', [...COMMON, '--out', '--as-of', '--json']],
  ['export parquet', [...COMMON, '--migrate', '--out', '--only', '--whole', '--json']],
  ['database start', [...COMMON, '--json']],
  ['database stop', [...COMMON, '--json']],
  ['database url', [...COMMON, '--json']],
  ['database psql', COMMON],
  ['database move-to', [...COMMON, '--json']],
  ['distribute', [...COMMON, '--by', '--undo', '--dry-run', '--json']],
  ['simulate', ['--help', '--config', '--log-level', '--log-format', ...SIMULATE]],
  ['config', [...COMMON, ...ALL_SETTINGS, '--json']],
]

/** The flags at the beginnings of lines. */
const flagsIn = (help: string): string[] =>
  [...help.matchAll(/^ {2}(?:-\w, )?(--[a-z-]+)/gm)].map(([, flag]) => flag!).sort()

describe('the help', () => {
  it.each(COMMANDS)('of %s ends with 0 and tells exactly its flags', async (name, flags) => {
    const { exitCode, stdout, stderr } = await runInProcess(...name.split(' '), '--help')
    expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: '' })
    expect(stdout).toMatch(`Usage: tracking-sync ${name} [options]`)
    expect(flagsIn(stdout)).toEqual([...new Set(flags)].sort())
    for (const line of stdout.split('\n').filter((text) => /^ {2}-/.test(text))) {
      expect(line).toMatch(/^ {2}.{6,38} {2,}\S|^ {2}\S+(?: \S+)*$/)
    }
  })

  it('tells the variable and the default of each setting', { tags: ['FD11'] }, async () => {
    const { stdout } = await runInProcess('sync', '--help')
    const help = stdout.replaceAll(/\s+/g, ' ')
    expect(help).toContain('(TRACKING_RATE_LIMIT_PER_MINUTE; default: 90)')
    expect(help).toContain('(TRACKING_ALLOW_INSECURE_API_URL; default: false)')
    expect(help).toContain('(TRACKING_API_URL)')
    expect(help).not.toContain('preset')
  })

  it('of the program and of its groups names exactly these commands', async () => {
    const names = async (...args: string[]): Promise<string[]> => {
      const { exitCode, stdout } = await runInProcess(...args, '--help')
      expect(exitCode).toBe(0)
      const [, list = ''] = stdout.split('\nCommands:\n')
      return [...list.split('\n\n')[0]!.matchAll(/^ {2}([\w-]+)/gm)]
        .map(([, name]) => name!)
        .filter((name) => name !== 'help')
    }
    const top = COMMANDS.map(([name]) => name.split(' ')[0]!)
    expect(await names()).toEqual([...new Set(top)])
    for (const group of [
      'alerts',
      'database',
      'quarantine',
      'rules',
      'invoices',
      'webhooks',
      'custom-fields',
    ]) {
      const members = COMMANDS.filter(([name]) => name.startsWith(`${group} `))
      expect(await names(group)).toEqual(members.map(([name]) => name.split(' ')[1]))
    }
  })

  it.each(['sync', 'webhooks create', 'custom-fields'])(
    'of %s is the same by the word and by the flag',
    async (name) => {
      const [group = '', ...rest] = name.split(' ')
      const byFlag = await runInProcess(...name.split(' '), '--help')
      expect(await runInProcess('help', ...name.split(' '))).toEqual(byFlag)
      if (rest.length > 0) expect(await runInProcess(group, 'help', ...rest)).toEqual(byFlag)
    },
  )

  it('of the program tells every exit code', async () => {
    const { stdout } = await runInProcess('--help')
    const [, codes = ''] = stdout.split('\nExit codes:\n')
    for (const code of [...Object.values(EXIT_CODES), 129, 130, 143]) {
      expect(codes).toMatch(new RegExp(`(?:^|\\s)${code}\\b`))
    }
  })

  it('offers no flag for a secret', { tags: ['S4'] }, async () => {
    for (const [name] of COMMANDS) {
      const { stdout } = await runInProcess(...name.split(' '), '--help')
      // These hand a secret out; none takes one.
      const taking = flagsIn(stdout).filter(
        (flag) => !['--show-secret', '--secret-file', '--makes-secrets'].includes(flag),
      )
      expect(taking.filter((flag) => /key|secret|password|token|url$/.test(flag))).toEqual(
        taking.filter((flag) => /^--(?:(?:(?:allow-insecure-)?api|webhook)-)?url$/.test(flag)),
      )
    }
  })

  it('and usage errors carry no colour codes where nobody looks at a terminal', async () => {
    const outputs = [
      await runInProcess('--help'),
      await runInProcess('sync', '--help'),
      await runInProcess('nonsense'),
      await runInProcess('sync', '--nonsense'),
    ]
    for (const { stdout, stderr } of outputs) expect(stdout + stderr).not.toContain('\u001b')
    expect(outputs.map(({ exitCode }) => exitCode)).toEqual([0, 0, 2, 2])
  })

  it('goes to standard error, with 2, where the command is missing', async () => {
    const { exitCode, stdout, stderr } = await runInProcess()
    expect({ exitCode, stdout }).toEqual({ exitCode: 2, stdout: '' })
    expect(stderr).toMatch(/^Usage: tracking-sync \[options\] \[command\]\n/)
  })
})
