import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { access, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { createCanaryScanner } from './canary-scanner.js'
import { rememberProgram } from './said-by-programs.js'

/**
 * The built program as a child process, as people run it: its own working directory and an
 * environment that holds nothing but what the test gives. Every run is also a test of its own: the
 * secrets it was given (and the password of its embedded database) must occur neither in its output
 * nor in its command line, and nothing it prints may steer a terminal.
 */

export const repositoryDirectory = fileURLToPath(new URL('../../', import.meta.url))
const cliPath = join(repositoryDirectory, 'dist', 'program', 'cli.js')

export interface ProgramOptions {
  readonly directory: string
  /** On top of PATH, which is all that a run gets otherwise. */
  readonly env?: Readonly<Record<string, string>>
  /** In addition to the key and the passwords in `env`. */
  readonly secrets?: readonly string[]
  /** For `database url`, whose purpose is to print the password. */
  readonly isPrintingPassword?: boolean
  /** Killed, and failed, when it runs longer. */
  readonly deadlineMs?: number
  /** Goes to standard input, which is empty otherwise. */
  readonly input?: string
  /** Runs it as another account, for root only. */
  readonly account?: { readonly uid: number; readonly gid: number } | undefined
}

export interface ProgramResult {
  readonly exitCode: number | null
  readonly signal: NodeJS.Signals | null
  readonly stdout: string
  readonly stderr: string
}

export interface RunningProgram {
  readonly pid: number
  /** The output so far. */
  readonly stdout: () => string
  readonly stderr: () => string
  /**
   * Resolves as soon as the condition on the output holds; fails when the program ends first or
   * takes too long.
   */
  waitFor(condition: (output: RunningProgram) => boolean): Promise<void>
  readonly kill: (signal: NodeJS.Signals) => void
  readonly ended: Promise<ProgramResult>
}

const DEADLINE_MS = 60_000

const running = new Set<{ readonly kill: () => void; readonly ended: Promise<unknown> }>()

/** Runs `tracking-sync` with these arguments to its end. */
export async function runCli(
  args: readonly string[],
  options: ProgramOptions,
): Promise<ProgramResult> {
  return (await startCli(args, options)).ended
}

export async function startCli(
  args: readonly string[],
  options: ProgramOptions,
): Promise<RunningProgram> {
  await expectBuilt()
  return startProgram(process.execPath, [cliPath, ...args], options)
}

async function expectBuilt(): Promise<void> {
  await access(cliPath).catch((cause: unknown) => {
    throw new Error('These tests run the built program: run "npm run build" first.', { cause })
  })
}

/** Another program that runs ours: a shell, npx, an installed copy. */
export function startProgram(
  program: string,
  args: readonly string[],
  options: ProgramOptions,
): RunningProgram {
  const secrets = [...secretsOf(options.env ?? {}), ...(options.secrets ?? [])]
  expectNoSecret(`the arguments of ${program}`, args.join(' '), secrets)
  const child = spawn(program, args, {
    cwd: options.directory,
    env: { PATH: process.env.PATH, ...options.env },
    stdio: ['pipe', 'pipe', 'pipe'],
    // A process group of its own, so that the deadline reaches what it started.
    detached: true,
    ...options.account,
  })
  const { pid } = child
  if (pid === undefined) throw new Error(`${program} cannot be started`)
  const output = { stdout: '', stderr: '' }
  const said = (): string => `--- stdout\n${output.stdout}\n--- stderr\n${output.stderr}`
  const name = [program, ...args].join(' ')
  rememberProgram({
    name,
    said: () => `${output.stdout}${output.stderr}`,
    isRunning: () => child.exitCode === null && child.signalCode === null,
  })
  const commandLines: Promise<string>[] = []
  const watchers = new Set<() => void>()
  for (const stream of ['stdout', 'stderr'] as const) {
    child[stream].setEncoding('utf8').on('data', (text: string) => {
      output[stream] += text
      commandLines.push(readCommandLine(pid))
      for (const watcher of watchers) watcher()
    })
  }
  child.stdin.on('error', () => undefined)
  child.stdin.end(options.input ?? '')
  const killGroup = (): void => {
    try {
      process.kill(-pid, 'SIGKILL')
    } catch {
      // It ended by itself meanwhile.
    }
  }
  const deadlineMs = options.deadlineMs ?? DEADLINE_MS
  let isLate = false
  const deadline = setTimeout(() => {
    isLate = true
    killGroup()
  }, deadlineMs)

  async function end(): Promise<ProgramResult> {
    const [exitCode, signal] = (await once(child, 'close')) as [
      number | null,
      NodeJS.Signals | null,
    ]
    clearTimeout(deadline)
    for (const watcher of [...watchers]) watcher()
    if (isLate) throw new Error(`${name} ran longer than ${deadlineMs} ms.\n${said()}`)
    secrets.push(...(await embeddedPasswords(options)))
    for (const line of await Promise.all(commandLines)) {
      expectNoSecret(`the command line of ${name}`, line, secrets)
    }
    await expectClean(name, output, options)
    return { exitCode, signal, ...output }
  }
  const ended = end()
  // Most tests await it, but not tests that fail earlier.
  ended.catch(() => undefined)
  const entry = { kill: killGroup, ended }
  running.add(entry)
  void ended.catch(() => undefined).then(() => running.delete(entry))

  const self: RunningProgram = {
    pid,
    stdout: () => output.stdout,
    stderr: () => output.stderr,
    waitFor: (condition) =>
      new Promise((resolve, reject) => {
        const watcher = (): void => {
          const isOver = child.exitCode !== null || child.signalCode !== null
          if (!condition(self) && !isOver) return
          watchers.delete(watcher)
          if (condition(self)) resolve()
          else reject(new Error(`${name} ended before what was waited for.\n${said()}`))
        }
        watchers.add(watcher)
        watcher()
      }),
    kill: (signal) => {
      child.kill(signal)
    },
    ended,
  }
  return self
}

/** For `afterEach`: ends what a failed test left running. */
export async function endPrograms(): Promise<void> {
  for (const { kill, ended } of running) {
    kill()
    await ended.catch(() => undefined)
  }
}

/** Resolves when the condition holds; fails after the deadline. */
export async function waitUntil(
  what: string,
  condition: () => boolean | Promise<boolean>,
  deadlineMs = 30_000,
): Promise<void> {
  const deadline = performance.now() + deadlineMs
  while (!(await condition())) {
    if (performance.now() > deadline) throw new Error(`${what}: not within ${deadlineMs} ms`)
    await new Promise((resolve) => setTimeout(resolve, 10))
  }
}

/** Fails when a text contains a secret in any form. */
function expectNoSecret(where: string, text: string, secrets: readonly string[]): void {
  const scanner = createCanaryScanner(Object.fromEntries(secrets.map((one, at) => [at, one])))
  scanner.text(where, text)
  if (scanner.findings().length > 0) {
    throw new Error(`A secret stands in it. ${scanner.findings().join()}`)
  }
}

/**
 * Fails when an output shows a secret that the program was given or made up, or may steer a
 * terminal.
 */
export async function expectClean(
  name: string,
  output: Pick<ProgramResult, 'stdout' | 'stderr'>,
  options: Pick<ProgramOptions, 'directory' | 'env' | 'secrets' | 'isPrintingPassword'>,
): Promise<void> {
  const all = `--- stdout\n${output.stdout}\n--- stderr\n${output.stderr}`
  if (options.isPrintingPassword !== true) {
    const given = [...secretsOf(options.env ?? {}), ...(options.secrets ?? [])]
    const secrets = [...given, ...(await embeddedPasswords(options))]
    expectNoSecret(`the output of ${name}`, all, secrets)
  }
  if (/[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]/.test(all)) {
    throw new Error(`${name} prints control characters: ${JSON.stringify(all)}`)
  }
}

/** The key, and the password within the address of the database. */
function secretsOf(env: Readonly<Record<string, string>>): string[] {
  const { TRACKING_API_KEY: key = '', DATABASE_URL: address = '' } = env
  const password = URL.canParse(address) ? decodeURIComponent(new URL(address).password) : ''
  return [key, password].filter((secret) => secret !== '')
}

/** Passwords that the program made for its embedded database. */
async function embeddedPasswords({
  directory,
  env = {},
}: Pick<ProgramOptions, 'directory' | 'env'>): Promise<string[]> {
  const home = env.TRACKING_HOME ?? join(directory, '.tracking-sync')
  const file = join(home, 'database', 'password')
  const text = await readFile(file, 'utf8').catch(() => '')
  return text.trim() === '' ? [] : [text.trim()]
}

/** Everyone on a machine can read it. Empty where the system does not show it as a file. */
async function readCommandLine(pid: number): Promise<string> {
  return readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '')
}
