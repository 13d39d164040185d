import type { Command } from 'commander'
import { addLateFlags } from './declare-command.js'

export interface FlagNode {
  /** The form in `--help`: `-V, --version`, `--page-size <value>`. */
  readonly form: string
  readonly help: string
  /** A flag of a setting, which most commands have. */
  readonly isSetting: boolean
}

/** A command, or the program itself, with all that may follow it. */
export interface CommandNode {
  readonly name: string
  readonly help: string
  /** Its arguments as in `--help`. */
  readonly usage: string
  readonly flags: readonly FlagNode[]
  readonly commands: readonly CommandNode[]
}

/** Adds the flags of settings to each command, so call it for a program that runs nothing else. */
export async function readCommandTree(command: Command): Promise<CommandNode> {
  await addLateFlags(command)
  const commands: CommandNode[] = []
  for (const member of command.commands) commands.push(await readCommandTree(member))
  const flags = command.options.map((option) => ({
    form: option.flags,
    help: option.description,
    isSetting: option.helpGroupHeading === 'Settings:',
  }))
  return {
    name: command.name(),
    help: command.description(),
    usage: command.usage(),
    flags,
    commands,
  }
}
