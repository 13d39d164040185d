import type { Command } from 'commander'
import { addLateFlags } from '../declare-command.js'

export interface FlagNode {
  /** As in `--help`: `-V, --version`, `--page-size <value>`. */
  readonly form: string
  readonly long: string
  readonly help: string
  /** It takes a value. */
  readonly hasValue: boolean
  /** The words that the value may be; undefined: any. */
  readonly choices: readonly string[] | undefined
  /** Of a setting, which most commands have. */
  readonly isSetting: boolean
}

/** A command, or the program itself, with all that may follow it. */
export interface CommandNode {
  readonly name: string
  readonly help: string
  /** The first part of `help`. */
  readonly summary: string
  /** Its arguments as in `--help`. */
  readonly usage: string
  readonly flags: readonly FlagNode[]
  /** The words that its first argument may be; undefined: any, or none. */
  readonly choices: readonly string[] | undefined
  readonly commands: readonly CommandNode[]
}

/** Adds the flags of settings to each command, so call it for a program that runs nothing else. */
export async function readCommandTree(command: Command): Promise<CommandNode> {
  await addLateFlags(command)
  const commands: CommandNode[] = []
  for (const member of command.commands) commands.push(await readCommandTree(member))
  const flags = command.options.map((option) => ({
    form: option.flags,
    long: option.long ?? option.flags,
    help: option.description,
    hasValue: option.required || option.optional,
    choices: option.argChoices,
    isSetting: option.helpGroupHeading === 'Settings:',
  }))
  return {
    name: command.name(),
    help: command.description(),
    summary: command.summary() === '' ? command.description() : command.summary(),
    usage: command.usage(),
    flags,
    choices: command.registeredArguments[0]?.argChoices,
    commands,
  }
}
