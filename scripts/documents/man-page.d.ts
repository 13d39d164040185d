import type { Command } from 'commander'
import type * as exitCodes from '../../src/base/exit-code.js'
import type { SettingDescription } from '../../src/config/settings.js'

export function manPage(
  program: Command,
  settings: readonly SettingDescription[],
  tables: Pick<typeof exitCodes, 'EXIT_CODES' | 'EXIT_CODE_MEANINGS'>,
): string
