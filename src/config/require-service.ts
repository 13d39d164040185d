import { ConfigError, type ConfigProblem } from '../base/errors.js'

interface Service {
  readonly apiUrl: string
  readonly apiKey: string
}

type MaybeService = { readonly [Name in keyof Service]?: Service[Name] | undefined }

/** The settings that a command which reads the service cannot do without. Throws ConfigError naming each that is missing. */
export function requireService({ apiUrl, apiKey }: MaybeService): Service {
  if (apiUrl !== undefined && apiKey !== undefined) return { apiUrl, apiKey }
  const missing: ConfigProblem[] = []
  if (apiUrl === undefined) {
    missing.push({
      setting: 'TRACKING_API_URL',
      problem: 'is not set; give the base address of the service, or try `tracking-sync demo`',
    })
  }
  if (apiKey === undefined) {
    missing.push({
      setting: 'TRACKING_API_KEY',
      problem:
        'is not set; put the key into the environment or a file named by TRACKING_API_KEY_FILE',
    })
  }
  throw new ConfigError(missing)
}
