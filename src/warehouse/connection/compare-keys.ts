/** The order of collation "C" for the ids that we accept. */
export function compareKeys(one: string, two: string): number {
  return one < two ? -1 : one > two ? 1 : 0
}
