/** The groups of the catalogue by their letter, and I for the invariants. */
const CASE = /(?<![\w-])([CDGHIKNPRSTWXZ])([1-9]\d?)(?:\s?[-–]\s?\1([1-9]\d?))?(?![\w%])/g

/**
 * The case ids in the name of a test, in order and each once: `H3`, lists as `I1, I2` and `W2/W3`, ranges as `C1-C8`.
 * Whether the catalogue knows them is another question.
 */
export function caseIdsIn(name) {
  const ids = new Set()
  for (const [, letter, first, last] of name.matchAll(CASE)) {
    for (let number = Number(first); number <= Number(last ?? first); number += 1) {
      ids.add(`${letter}${String(number)}`)
    }
  }
  return [...ids]
}
