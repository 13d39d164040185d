export type Members = Readonly<Record<string, unknown>>

/** An object of a JSON text: no array, no null. */
export function isObject(value: unknown): value is Members {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** The members of an object; none for any other value. */
export function membersOf(value: unknown): Members {
  return isObject(value) ? value : {}
}
