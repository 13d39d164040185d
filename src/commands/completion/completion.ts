import { Argument } from 'commander'
import { readCommandTree, type CommandNode } from './command-tree.js'
import type { AddCommand } from '../declare-command.js'

const SHELLS = ['bash', 'zsh', 'fish'] as const

type Shell = (typeof SHELLS)[number]

/** Of all settings it needs none, so it is no `declare`d command. */
export const completion: AddCommand = (parent, io) => {
  const help =
    'Print what makes a shell complete commands and flags. ' +
    'For bash: `source <(tracking-sync completion bash)` in ~/.bashrc.'
  parent
    .command('completion')
    .summary('Print what makes a shell complete commands and flags')
    .description(help)
    .addArgument(new Argument('<shell>', 'Which shell.').choices(SHELLS))
    .action(async (shell: Shell) => {
      const lines = SCRIPTS[shell](statesOf(await readCommandTree(parent)))
      io.process.stdout.write(`${lines.join('\n')}\n`)
    })
}

interface Word {
  readonly word: string
  readonly help: string
}

/** What may follow when these words of commands were typed. */
interface State {
  readonly path: readonly string[]
  readonly commands: readonly Word[]
  readonly flags: readonly (Word & { readonly hasValue: boolean })[]
  /** By flag. */
  readonly values: readonly (readonly [flag: string, words: readonly string[]])[]
}

function statesOf(node: CommandNode, path: readonly string[] = []): readonly State[] {
  const help = { word: '--help', help: 'Print this help.', hasValue: false }
  const state = {
    path,
    commands: [
      ...node.commands.map(({ name, summary }) => ({ word: name, help: summary })),
      ...(node.choices ?? []).map((word) => ({ word, help: '' })),
    ],
    flags: [
      ...node.flags.map((flag) => ({
        word: flag.long,
        // Up to its first stop, as in the list of commands.
        help: flag.help.split(/[.:;] /)[0] ?? '',
        hasValue: flag.hasValue,
      })),
      help,
    ],
    values: node.flags.flatMap(({ long, choices }) =>
      choices === undefined ? [] : [[long, choices] as const],
    ),
  }
  return [state, ...node.commands.flatMap((member) => statesOf(member, [...path, member.name]))]
}

const SCRIPTS: Readonly<Record<Shell, (states: readonly State[]) => string[]>> = {
  bash: bashScript,
  zsh: zshScript,
  fish: fishScript,
}

/** A single word for all three shells. */
const quote = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`

const words = (list: readonly Word[]): string => list.map(({ word }) => word).join(' ')

/** The commands that were typed before the word at hand, in `path`. */
function pathCases(states: readonly State[]): string[] {
  const paths = states.slice(1).map(({ path }) => quote(path.join(' ')))
  return [
    '    for word in $typed; do',
    '        case "${path:+$path }$word" in',
    `            ${paths.join('|')}) path="\${path:+$path }$word" ;;`,
    '        esac',
    '    done',
  ]
}

function bashScript(states: readonly State[]): string[] {
  const cases = states.flatMap(({ path, commands, flags, values }) => [
    `        ${quote(path.join(' '))})`,
    ...(values.length === 0
      ? []
      : [
          '            case "$before" in',
          ...values.map(
            ([flag, choices]) => `                ${flag}) words=${quote(choices.join(' '))} ;;`,
          ),
          '            esac',
        ]),
    `            [[ -n $words ]] || words=${quote(`${words(commands)} ${words(flags)}`.trim())}`,
    '            ;;',
  ])
  return [
    '_tracking_sync() {',
    '    local at=$COMP_CWORD path= word words=',
    '    local present=${COMP_WORDS[at]} before=${COMP_WORDS[at - 1]}',
    '    local typed="${COMP_WORDS[*]:1:at - 1}"',
    ...pathCases(states),
    '    case "$path" in',
    ...cases,
    '    esac',
    '    COMPREPLY=($(compgen -W "$words" -- "$present"))',
    '}',
    'complete -o default -F _tracking_sync tracking-sync',
  ]
}

function zshScript(states: readonly State[]): string[] {
  const described = (list: readonly Word[]): string =>
    list
      .map(({ word, help }) => quote(help === '' ? word : `${word}:${help.replaceAll(':', '\\:')}`))
      .join(' ')
  const cases = states.flatMap(({ path, commands, flags, values }) => [
    `        ${quote(path.join(' '))})`,
    ...(values.length === 0
      ? []
      : [
          '            case "$before" in',
          ...values.map(
            ([flag, choices]) =>
              `                ${flag}) found=(${choices.map(quote).join(' ')}) ;;`,
          ),
          '            esac',
        ]),
    `            (( $#found )) || found=(${described([...commands, ...flags])})`,
    '            ;;',
  ])
  return [
    '#compdef tracking-sync',
    '_tracking_sync() {',
    '    local path= word before=${words[CURRENT - 1]}',
    '    local -a found typed',
    '    typed=(${words[2,CURRENT - 1]})',
    ...pathCases(states),
    '    case "$path" in',
    ...cases,
    '    esac',
    "    _describe 'tracking-sync' found || _files",
    '}',
    '# Loaded by `source` it is told to the shell; in a directory of $fpath it is run.',
    'if [[ $funcstack[1] == _tracking_sync ]]; then _tracking_sync "$@"',
    'else compdef _tracking_sync tracking-sync; fi',
  ]
}

function fishScript(states: readonly State[]): string[] {
  return states.flatMap((state) => {
    const { path, commands, flags, values } = state
    const below = states
      .filter((other) => other.path.length === path.length + 1)
      .filter((other) => path.every((word, at) => other.path[at] === word))
      .map((other) => other.path.at(-1))
    const when = [
      ...path.map((word) => `__fish_seen_subcommand_from ${word}`),
      ...(below.length === 0 ? [] : [`not __fish_seen_subcommand_from ${below.join(' ')}`]),
    ].join('; and ')
    const complete = `complete -c tracking-sync${when === '' ? '' : ` -n ${quote(when)}`}`
    return [
      ...commands.map(({ word, help }) => `${complete} -f -a ${word} -d ${quote(help)}`),
      ...flags.map(({ word, help, hasValue }) => {
        const choices = values.find(([flag]) => flag === word)?.[1]
        const value = choices === undefined ? '' : ` -f -a ${quote(choices.join(' '))}`
        return `${complete} -l ${word.slice(2)}${hasValue ? ' -r' : ''}${value} -d ${quote(help)}`
      }),
    ]
  })
}
