import { Command, CommanderError } from 'commander'
import { EXIT_CODES, EXIT_CODE_MEANINGS } from '../base/exit-code.js'
import { addCheckCommand } from './check.js'
import { CommandIo, type ProcessLike } from './command-io.js'
import { addConfigCommand } from './config.js'
import { addCustomFieldCommands } from './custom-fields.js'
import { addDatabaseCommand } from './database.js'
import { addDemoCommand } from './demo.js'
import { addMigrateCommand } from './migrate.js'
import { addPlanCommand } from './plan.js'
import { addQuarantineCommands } from './quarantine.js'
import { addQueryCommand } from './query.js'
import { addReplayCommand } from './replay.js'
import { addServeCommand } from './serve.js'
import { addStoreViewsCommand } from './store-views-command.js'
import { addSimulateCommand } from './simulate.js'
import { addStatusCommand } from './status.js'
import { addSyncCommands } from './sync.js'
import { addVerifyCommand } from './verify.js'
import { addWebhookCommands } from './webhooks.js'

const EXIT_CODE_HELP = [
  '',
  'Exit codes:',
  ...Object.entries(EXIT_CODES).map(
    ([name, code]) => `  ${code}  ${EXIT_CODE_MEANINGS[name as keyof typeof EXIT_CODES]}`,
  ),
  '  129, 130, 143  stopped by SIGHUP, SIGINT or SIGTERM',
].join('\n')

/** The program with all its commands, each with its help. */
export function createProgram(io: CommandIo): Command {
  const program = new Command('tracking-sync')
    .description('Keeps a PostgreSQL warehouse equal to a container-and-shipment tracking service.')
    .version(io.programVersion)
    .exitOverride()
    .configureOutput({
      writeOut: (text) => io.process.stdout.write(text),
      writeErr: (text) => io.process.stderr.write(text),
    })
    .addHelpText('after', EXIT_CODE_HELP)
  addDemoCommand(program, io)
  addCheckCommand(program, io)
  addMigrateCommand(program, io)
  addPlanCommand(program, io)
  addSyncCommands(program, io)
  addServeCommand(program, io)
  addStoreViewsCommand(program, io)
  addStatusCommand(program, io)
  addVerifyCommand(program, io)
  addQuarantineCommands(program, io)
  addReplayCommand(program, io)
  addWebhookCommands(program, io)
  addCustomFieldCommands(program, io)
  addQueryCommand(program, io)
  addDatabaseCommand(program, io)
  addSimulateCommand(program, io)
  addConfigCommand(program, io)
  return program
}

/**
 * Runs one command line and gives its exit code. Calls `process.exit` only for a second signal;
 * otherwise output is written out and everything opened is closed first.
 */
export async function runCli(argv: readonly string[], process: ProcessLike): Promise<number> {
  const io = new CommandIo(process)
  const program = createProgram(io)
  try {
    await program.parseAsync(withHelpFlag(argv, program))
  } catch (thrown) {
    // Commander has printed help, version or the usage error already.
    if (!(thrown instanceof CommanderError)) throw thrown
    io.exitCode = thrown.exitCode === 0 ? EXIT_CODES.complete : EXIT_CODES.config
  }
  return io.finish()
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
