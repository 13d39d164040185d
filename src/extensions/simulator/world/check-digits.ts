/** Letters of an owner code count from 10 upwards and leave out the multiples of 11 (ISO 6346). */
const LETTER_VALUES = [
  10, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 23, 24, 25, 26, 27, 28, 29, 30, 31, 32, 34, 35, 36,
  37, 38,
]

/**
 * The eleventh character of a container number, from the first ten (`MSCU123456` → its digit),
 * per ISO 6346.
 */
export function containerCheckDigit(firstTen: string): number {
  let sum = 0
  for (let position = 0; position < 10; position++) {
    const code = firstTen.charCodeAt(position)
    const value = code >= 65 ? (LETTER_VALUES[code - 65] ?? 0) : code - 48
    sum += value * 2 ** position
  }
  return (sum % 11) % 10
}

/** The seventh digit of an IMO ship number: the last digit of 7a + 6b + 5c + 4d + 3e + 2f. */
export function imoCheckDigit(firstSix: string): number {
  let sum = 0
  for (let position = 0; position < 6; position++) {
    sum += (firstSix.charCodeAt(position) - 48) * (7 - position)
  }
  return sum % 10
}
