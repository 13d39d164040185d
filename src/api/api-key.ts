import { ConfigError } from '../base/errors.js'
import { apiKeyProblem } from '../base/service-address.js'

/**
 * Refuses a key that cannot stand in a header as it is. It must be done before the HTTP library sees it: that one prints an invalid header value in
 * its error. Throws a `ConfigError` that says what is wrong and never shows the key.
 */
export function checkApiKey(apiKey: string): void {
  const problem = apiKeyProblem(apiKey)
  if (problem !== undefined) throw new ConfigError([{ setting: 'TRACKING_API_KEY', problem }])
}
