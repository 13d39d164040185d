import { ApiAuthError, ApiNotFoundError, ApiRequestError } from '../base/errors.js'

/** Whether the service does not offer what was asked for: forbidden, unknown or not understood. */
export function isNotOffered(thrown: unknown): boolean {
  if (thrown instanceof ApiAuthError) return thrown.context.status === 403
  return thrown instanceof ApiNotFoundError || thrown instanceof ApiRequestError
}
