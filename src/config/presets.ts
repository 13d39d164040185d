import { readdirSync, readFileSync } from 'node:fs'
import { z } from 'zod'
import { projectFile } from '../base/project-file.js'
import * as kind from './kinds.js'
import { serviceSettings as ofService } from './service-settings.js'

/** A list in the file, the text of a setting outside of it. */
const list = <Kind extends z.ZodType<unknown, string>>(items: Kind) =>
  z
    .array(kind.text)
    .transform((parts) => parts.join(','))
    .pipe(items)

/** One file of `config/services/`. Whole: a preset takes nothing from another. */
const presetKind = z.strictObject({
  title: kind.text,
  settings: z.strictObject({
    apiUrl: ofService.apiUrl.kind.optional(),
    rateLimitPerMinute: ofService.rateLimitPerMinute.kind,
    pageSize: ofService.pageSize.kind,
    webhookSignatureHeader: ofService.webhookSignatureHeader.kind,
    webhookSignatureAlgorithm: ofService.webhookSignatureAlgorithm.kind,
    webhookSignatureEncoding: ofService.webhookSignatureEncoding.kind,
    webhookSignaturePrefix: ofService.webhookSignaturePrefix.kind.optional(),
    webhookEvents: ofService.webhookEvents.kind,
    webhookEventNames: list(ofService.webhookEventNames.kind).optional(),
    webhookSenders: list(ofService.webhookSenders.kind).optional(),
  }),
})

export type Preset = z.output<typeof presetKind>

const DIRECTORY = 'config/services'

/** `generic` holds where no other is chosen. */
export function presetNames(): readonly string[] {
  return readdirSync(projectFile(DIRECTORY))
    .filter((file) => file.endsWith('.json'))
    .map((file) => file.slice(0, -'.json'.length))
    .sort()
}

/** The settings of a service. `name` is one of `presetNames`. Throws for a file that is wrong. */
export function readPreset(name: string): Preset {
  const file = `${DIRECTORY}/${name}.json`
  const parsed = presetKind.safeParse(JSON.parse(readFileSync(projectFile(file), 'utf8')))
  if (parsed.success) return parsed.data
  throw new Error(`the preset ${file} is wrong:\n${z.prettifyError(parsed.error)}`)
}

/** All of them by their names, for the documentation. */
export function readPresets(): Readonly<Record<string, Preset>> {
  return Object.fromEntries(presetNames().map((name) => [name, readPreset(name)]))
}
