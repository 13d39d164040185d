import { readdirSync } from 'node:fs'
import { resolve } from 'node:path'
import { z } from 'zod'
import { ConfigError } from '../base/errors.js'
import { listNames, suggest } from '../base/phrases.js'
import { projectFile } from '../base/project-file.js'
import { parseJsonObject, readTextFile } from '../base/text-file.js'
import * as kind from './kinds.js'

/** How a service sends its webhooks. */
const webhooksKind = z.strictObject({
  signature: z.strictObject({
    header: kind.matching(
      /^[A-Za-z0-9-]{1,64}$/,
      'must be the name of a header: letters, digits and hyphens',
    ),
    /** Hash of the HMAC over the raw body. */
    algorithm: kind.oneOf(['sha256', 'sha512', 'sha1']),
    /** `hex` is in lower case. */
    encoding: kind.oneOf(['hex', 'base64']),
    prefix: kind
      .matching(/^[A-Za-z0-9_.-]{0,30}[=:,]?$/, 'must be a short text like sha256=')
      .default(''),
  }),
  /** Our webhook must subscribe to these; see `neededEvents`. */
  events: z
    .array(kind.matching(/^-?[\w.*]+$/, 'must be all, or the name of an event, like -document.*'))
    .default(['all']),
  /** All events of the service, if it does not list them. */
  eventNames: z.array(kind.matching(/^[\w.]+$/, 'must be the name of an event')).default([]),
  /** Whether deliveries are accepted only from the addresses that the service publishes. */
  checkSenders: z.boolean('must be true or false').default(false),
  /** Addresses to use until the list of the service was read. */
  senders: z
    .array(
      z.union(
        [z.ipv4(), z.ipv6(), z.cidrv4(), z.cidrv6()],
        'must be an address, or a range like 192.0.2.0/24',
      ),
    )
    .default([]),
})

/**
 * One file of `config/services/`, or of an operator. A preset is complete: it inherits from no
 * other.
 */
const presetKind = z.strictObject(
  {
    title: kind.text,
    apiUrl: kind.baseUrl.optional(),
    /** Page of a container or bill of lading at the service. */
    numberPage: kind.numberPage.optional(),
    rateLimitPerMinute: kind.requestsPerMinute,
    /** Maximum of records that the service sends on a page. */
    pageSize: kind.wholeNumber(1, 1000),
    webhooks: webhooksKind,
  },
  { error: ({ code }) => (code === 'invalid_type' ? 'is not a JSON object' : undefined) },
)

export type Preset = z.output<typeof presetKind>

const DIRECTORY = 'config/services'

/** Names of presets; `generic` is the default. */
export function presetNames(): readonly string[] {
  return readdirSync(projectFile(DIRECTORY))
    .filter((file) => file.endsWith('.json'))
    .map((file) => file.slice(0, -'.json'.length))
    .sort()
}

/**
 * The preset with this name, or of this file: a name that ends with `.json` is a file, relative to
 * `workingDirectory`. Throws ConfigError if the preset is missing or wrong.
 */
export function readPreset(service: string, workingDirectory = ''): Preset {
  const refuse = (problem: string): never => {
    throw new ConfigError([{ setting: 'TRACKING_SERVICE', problem }])
  }
  const isFile = service.endsWith('.json')
  const names = isFile ? [] : presetNames()
  if (!isFile && !names.includes(service)) {
    refuse(
      `is not a service we have a preset for: ${names.join(', ')}${suggest(service, names)}; ` +
        'for another, name a file like ./my-service.json',
    )
  }
  const path = isFile
    ? resolve(workingDirectory, service)
    : projectFile(`${DIRECTORY}/${service}.json`)
  const parsed = presetKind.safeParse(parseJsonObject(readTextFile(path, { name: service })))
  if (parsed.success) return parsed.data
  const problems = parsed.error.issues.map(({ path: members, message }) =>
    members.length === 0 ? message : `${members.join('.')} ${message}`,
  )
  return refuse(`names the preset ${service}, which is wrong: ${listNames(problems)}`)
}

/** All of them by their names, for the documentation. */
export function readPresets(): Readonly<Record<string, Preset>> {
  return Object.fromEntries(presetNames().map((name) => [name, readPreset(name)]))
}
