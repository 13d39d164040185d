import type { z } from 'zod'
import type * as exitCodes from '../../src/base/exit-code.js'
import type { ProcessLike } from '../../src/commands/command-io.js'
import type { runCli } from '../../src/commands/program.js'
import type { Preset } from '../../src/config/presets.js'
import type { SettingDescription } from '../../src/config/settings.js'

export function settingsPage(
  descriptions: readonly SettingDescription[],
  presets: Readonly<Record<string, Preset>>,
): string
export function exampleConfig(descriptions: readonly SettingDescription[]): string
export function configSchema(
  descriptions: readonly SettingDescription[],
  toJsonSchema: (kind: z.ZodType) => object,
  isOfAccount: (setting: SettingDescription) => boolean,
): string
export function exitCodesPage(
  tables: Pick<typeof exitCodes, 'EXIT_CODES' | 'EXIT_CODE_MEANINGS' | 'exitCodeOfSignal'>,
): string
export function metricsPage(
  metrics: Readonly<
    Record<
      string,
      { readonly help: string; readonly type?: string; readonly labelNames?: readonly string[] }
    >
  >,
  rules: string,
): string
export function fakeProcess(onText?: (text: string) => void): ProcessLike
export function commandsPage(run: typeof runCli): Promise<string>
export function roomsList(
  rooms: Readonly<Record<string, { readonly holds: string; readonly may: readonly string[] }>>,
): string
