import { setFlagsFromString } from 'node:v8'
import { Command, CommanderError } from 'commander'
import { EXIT_CODES, EXIT_CODE_MEANINGS } from '../base/exit-code.js'
import { commandExtensions, commandGroups, extensions, formerCommands } from '../extensions.js'
import { config } from './config.js'
import { CommandIo, type ProcessLike } from './command-io.js'
import { addLateFlags, declare, type AnyDeclaration } from './declare-command.js'
import { migrate } from './migrate.js'
import { serve } from './serve.js'
import { status } from './status.js'
import { backfill, sync } from './sync.js'

/** The commands of the core. Extensions may add to them, and say where `--help` lists them. */
const COMMANDS: readonly AnyDeclaration[] = [migrate, backfill, sync, serve, status, config]

const EXIT_CODE_HELP = [
  '',
  'Exit codes:',
  ...Object.entries(EXIT_CODES).map(
    ([name, code]) => `  ${code}  ${EXIT_CODE_MEANINGS[name as keyof typeof EXIT_CODES]}`,
  ),
  '  129, 130, 143  stopped by SIGHUP, SIGINT or SIGTERM',
].join('\n')

/** Messages of commander that name the fix. */
const HAS_FIX = /It must |Separate |Allowed choices|Did you mean/

function createProgram(io: CommandIo): Command {
  const program = new Command('tracking-sync')
    .description('Keeps a PostgreSQL warehouse equal to a container-tracking service.')
    .version(io.programVersion, '-V, --version', 'Print the version.')
    .helpOption('-h, --help', 'Print this help.')
    .helpCommand('help [command]', 'Print the help of a command')
    .exitOverride()
    // The longest flags leave 36 columns of 80 for their text, and commander wraps from 40 on.
    .configureHelp({ minWidthToWrap: 20 })
    .configureOutput({
      writeOut: (text) => io.process.stdout.write(text),
      writeErr: (text) => io.process.stderr.write(text),
      outputError: (text, write) => {
        write(HAS_FIX.test(text) ? text : text.replace(/\.?\n$/, '; see --help\n'))
      },
    })
    .addHelpText('after', EXIT_CODE_HELP)
  const addOfCore = (command: AnyDeclaration): void => {
    const extenders = commandExtensions.flatMap((one) => one[command.name] ?? [])
    declare(extenders.reduce((extended, extend) => extend(extended), command))(program, io)
  }
  for (const [heading, members] of commandGroups) {
    program.commandsGroup(heading)
    for (const member of members) {
      if (typeof member !== 'string') member(program, io)
      else COMMANDS.filter(({ name }) => name === member).forEach(addOfCore)
    }
  }
  return program
}

/** The program with the flags of settings on each command, for pages about it. It runs nothing. */
export async function describeProgram(process: ProcessLike): Promise<Command> {
  const program = createProgram(new CommandIo(process, extensions))
  await addLateFlags(program)
  return program
}

/**
 * Runs one command line and returns its exit code. Calls `process.exit` only for a second signal;
 * otherwise output is written out and everything opened is closed first.
 */
export async function runCli(argv: readonly string[], process: ProcessLike): Promise<number> {
  const io = new CommandIo(process, extensions)
  const program = createProgram(io)
  try {
    await program.parseAsync(withGroup(withHelpFlag(argv, program), io))
  } catch (thrown) {
    // Commander has printed help, version or the usage error already.
    if (!(thrown instanceof CommanderError)) throw thrown
    io.exitCode = thrown.exitCode === 0 ? EXIT_CODES.complete : EXIT_CODES.config
  }
  return io.finish()
}

/** `replay` becomes `webhooks replay`, as long as the former name works. */
function withGroup(argv: readonly string[], io: CommandIo): readonly string[] {
  const [, , name = ''] = argv
  const group = formerCommands.get(name)
  if (group === undefined) return argv
  io.printNote(`\`${name}\` is now \`${group} ${name}\`; this name works until 0.3.0`)
  return argv.toSpliced(2, 0, group)
}

/** `help sync` becomes `sync --help`: only a command that is called gets the flags of settings. */
function withHelpFlag(argv: readonly string[], program: Command): string[] {
  const [first, second] = argv.slice(2)
  const isGroup = program.commands.some(
    (command) => command.commands.length > 0 && command.name() === first,
  )
  const at = first === 'help' ? 2 : isGroup && second === 'help' ? 3 : undefined
  if (at === undefined || argv.length === at + 1) return [...argv]
  return [...argv.slice(0, at), ...argv.slice(at + 1), '--help']
}

/**
 * Keeps the memory of a load small. Called once, at the start: V8 takes these flags while a program
 * runs, in Node 20 to 24. The heap grows by so many percent beyond its live data, and the nursery
 * does not grow (decision 66). `--max-old-space-size` still works beside them.
 */
export function boundHeapGrowth(): void {
  setFlagsFromString('--heap-growing-percent=100')
  setFlagsFromString('--semi-space-growth-factor=1')
}

/**
 * Called before the PostgreSQL driver is loaded. Keeps it from an addon that is not shipped, and
 * sets `navigator.userAgent` as Node 21 and later do: without it the driver makes a `Response` to
 * learn its runtime, and loading that costs a twentieth of the processor time of a small sync.
 */
export function prepareDriver(): void {
  // eslint-disable-next-line no-restricted-syntax -- the driver reads only this variable
  delete process.env.NODE_PG_FORCE_NATIVE
  if ('navigator' in globalThis) return
  const [major = ''] = process.versions.node.split('.')
  Object.defineProperty(globalThis, 'navigator', {
    value: Object.freeze({ userAgent: `Node.js/${major}` }),
    configurable: true,
  })
}
