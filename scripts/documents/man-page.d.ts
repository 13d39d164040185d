import type * as exitCodes from '../../src/base/exit-code.js'
import type { CommandNode } from '../../src/commands/program.js'
import type { SettingDescription } from '../../src/config/settings.js'

export function manPage(
  tree: CommandNode,
  settings: readonly SettingDescription[],
  tables: Pick<typeof exitCodes, 'EXIT_CODES' | 'EXIT_CODE_MEANINGS'>,
): string
