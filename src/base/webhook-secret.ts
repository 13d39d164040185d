/** Shorter ones can be guessed; the services we know make secrets of 32 characters and more. */
const SHORTEST_SECRET = 16

/**
 * Why a text cannot be a webhook's secret; undefined when it can. Shared by the settings and the
 * signature check, which must agree: an empty key or one with a line end signs as well as any
 * other, only never as the service does. The secret itself is never shown.
 */
export function webhookSecretProblem(secret: string): string | undefined {
  if (secret.trim() === '') return 'is empty'
  if (/\s/.test(secret)) return 'holds a space or a line break; give the bare secret'
  if (/^["'`]|["'`]$/.test(secret)) return 'begins or ends with a quote; give the bare secret'
  if (secret.length < SHORTEST_SECRET) {
    return `is shorter than ${SHORTEST_SECRET} characters; give the webhook a longer one`
  }
  return undefined
}
