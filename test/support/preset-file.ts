import { createHash, randomUUID } from 'node:crypto'
import { existsSync, mkdirSync, renameSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { readPreset, type Preset } from '../../src/config/presets.js'

type Webhooks = Preset['webhooks']

export interface PresetChanges {
  readonly pageSize?: number
  readonly webhooks?: Partial<Omit<Webhooks, 'signature'>> & {
    readonly signature?: Partial<Webhooks['signature']>
  }
}

/** The path of a preset file that differs from `generic` in these, for TRACKING_SERVICE. */
export function presetFile({ webhooks = {}, ...changes }: PresetChanges): string {
  const generic = readPreset('generic')
  const signature = { ...generic.webhooks.signature, ...webhooks.signature }
  const text = JSON.stringify({
    ...generic,
    ...changes,
    webhooks: { ...generic.webhooks, ...webhooks, signature },
  })
  const directory = join(tmpdir(), 'tracking-sync-presets')
  const name = createHash('sha256').update(text).digest('hex').slice(0, 12)
  const path = join(directory, `${name}.json`)
  if (existsSync(path)) return path
  mkdirSync(directory, { recursive: true })
  const whole = join(directory, randomUUID())
  writeFileSync(whole, text)
  renameSync(whole, path)
  return path
}
