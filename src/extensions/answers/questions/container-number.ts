/**
 * Container numbers by ISO 6346: the owner's three letters, a category, six digits and a check
 * digit.
 */

const FORM = /^[A-Z]{3}[UJZ]\d{7}$/

/** Letters have values from 10 on, without the multiples of 11. */
function valueOf(character: string): number {
  const place = character.charCodeAt(0) - 'A'.charCodeAt(0)
  return place < 0 ? Number(character) : 10 + place + Math.ceil(place / 10)
}

/** The fault of a number, as the end of a sentence; undefined for a valid one. */
export function containerNumberProblem(number: string): string | undefined {
  if (!FORM.test(number)) {
    return 'is not three letters, U, J or Z, and seven digits, as ISO 6346 requires'
  }
  const sum = Array.from(number.slice(0, 10)).reduce(
    (total, character, at) => total + valueOf(character) * 2 ** at,
    0,
  )
  const digit = (sum % 11) % 10
  if (number.endsWith(String(digit))) return undefined
  return `ends with the check digit ${number.slice(-1)}, but ISO 6346 requires ${digit}`
}
