import { spawn } from 'node:child_process'
import { once } from 'node:events'
import type { App } from '../../../app.js'
import { toError } from '../../../base/errors.js'
import { exitCodeOf } from '../../../base/exit-code.js'
import { showText } from '../../../base/phrases.js'
import type { CommandIo } from '../../../commands/command-io.js'
import { value, type ExtendCommand } from '../../../commands/declare-command.js'
import type { OnRunEnd, RunEnd } from '../../../commands/sync.js'

const ON_FINISH = value(
  '--on-finish <command>',
  'Command for the shell when the run has ended, however it ended. Its environment has ' +
    'RUN_OUTCOME, RUN_EXIT_CODE, RUN_PROBLEM and counts, PATH, HOME, user, language and time ' +
    'zone, and nothing else. It may take a minute.',
)

/** Adds `--on-finish` to a command of runs, after its flags that accept something. */
export const finishing: ExtendCommand = (declaration) => ({
  ...declaration,
  takes: Object.fromEntries(
    Object.entries(declaration.takes ?? {}).flatMap((take) =>
      take[0] === 'acceptAccount' ? [take, ['onFinish', ON_FINISH]] : [take],
    ),
  ),
  run: (app, flags, io) => {
    const { onFinish } = flags
    if (typeof onFinish !== 'string') return declaration.run(app, flags, io)
    const { name } = declaration
    const onEnd: OnRunEnd = (ofRun, end) => runOnFinish(ofRun, io, { onFinish, command: name }, end)
    return declaration.run(app, { ...flags, onEnd }, io)
  },
})

const LIMIT_MS = 60_000
const GRACE_MS = 5_000

/**
 * Runs the user's own command, `onFinish`, after `command` of ours. The results of the run go into
 * its environment and never into its text. Its outcome is reported and does not change the outcome
 * of the run.
 */
async function runOnFinish(
  app: App,
  io: CommandIo,
  { onFinish, command }: { readonly onFinish: string; readonly command: string },
  end: RunEnd,
): Promise<void> {
  const inherited = await inheritedEnvironment(io)
  const env = { ...inherited, RUN_COMMAND: command, ...factsOf(end, app) }
  const problem = await runCommand(onFinish, env)
  if (problem !== undefined) app.logger.warn(`the command of --on-finish ${problem}`)
}

/** The failure, as the end of a sentence; undefined when the command ended with 0. */
async function runCommand(
  command: string,
  env: Readonly<Record<string, string>>,
): Promise<string | undefined> {
  // A process group of its own, so that programs of the shell end with it. Standard output belongs
  // to the report.
  const child = spawn(command, { shell: true, detached: true, stdio: ['ignore', 2, 2], env })
  const ended = once(child, 'exit') as Promise<[number | null, NodeJS.Signals | null]>
  const progress = { isLate: false }
  const end = (signal: NodeJS.Signals) => (): void => {
    progress.isLate = true
    try {
      if (child.pid !== undefined) process.kill(-child.pid, signal)
    } catch {
      // The process has just ended.
    }
  }
  const timers = [
    setTimeout(end('SIGTERM'), LIMIT_MS),
    setTimeout(end('SIGKILL'), LIMIT_MS + GRACE_MS),
  ]
  try {
    const [code, signal] = await ended
    if (progress.isLate) return `took longer than ${LIMIT_MS / 1000} s and was ended`
    if (code === 0) return undefined
    return code === null ? `was ended by ${signal ?? 'a signal'}` : `ended with exit code ${code}`
  } catch (thrown) {
    return `could not be started: ${toError(thrown).message}`
  } finally {
    for (const timer of timers) clearTimeout(timer)
  }
}

const COUNTS = ['fetched', 'inserted', 'updated', 'tombstoned', 'quarantined'] as const

/**
 * The variables that a shell and its programs need. Any other may be a secret of ours or of another
 * program.
 */
const INHERITED =
  /^(?:PATH|HOME|USER|LOGNAME|SHELL|LANG|LANGUAGE|LC_[A-Z]+|TZ|TMPDIR|TERM|SYSTEMROOT)$/

async function inheritedEnvironment({ process }: CommandIo): Promise<Record<string, string>> {
  // Loaded here: with it come all settings, and `--help` reads none of them.
  const { readEnvironment } = await import('../../../config/load.js')
  const { env = readEnvironment() } = process
  return Object.fromEntries(
    Object.entries(env).filter(
      (entry): entry is [string, string] => entry[1] !== undefined && INHERITED.test(entry[0]),
    ),
  )
}

function factsOf(end: RunEnd, app: App): Record<string, string> {
  const says = (problem: string): string => showText(app.redact(problem), 1_000)
  if ('thrown' in end) {
    return {
      RUN_OUTCOME: 'failed',
      RUN_EXIT_CODE: String(exitCodeOf(end.thrown)),
      RUN_PROBLEM: says(toError(end.thrown).message),
    }
  }
  const { syncRunId, outcome, exitCode, requests, streams, problems } = end.report
  const counts = COUNTS.map((name) => {
    const sum = streams.reduce((total, { counts: one }) => total + one[name], 0)
    return [`RUN_${name.toUpperCase()}`, String(sum)]
  })
  return {
    RUN_ID: String(syncRunId),
    RUN_OUTCOME: outcome,
    RUN_EXIT_CODE: String(exitCode),
    RUN_REQUESTS: String(requests),
    RUN_PROBLEM: says(problems[0] ?? ''),
    ...(Object.fromEntries(counts) as Record<string, string>),
  }
}
