/** The members of an object of an answer; none for anything else, so that one can look for a member without asking whether there is an object. */
export function membersOf(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null
    ? (value as Readonly<Record<string, unknown>>)
    : {}
}
