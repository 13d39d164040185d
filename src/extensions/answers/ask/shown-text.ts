import { ConfigError } from '../../../base/errors.js'

/**
 * Control characters, marks that turn the direction of a text, and the invisible copies of ASCII:
 * a reader does not see them, and a language model does. In JSON their escapes mean the same.
 */
const INVISIBLE =
  /[\u007f-\u009f\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]|[\u{e0000}-\u{e007f}]/gu

const CONTROL = /[\u0000-\u001f]/g

/** The text with escapes in place of what nobody sees; lines of JSON stay lines. */
export function escapeInvisible(text: string): string {
  return text.replace(INVISIBLE, escaped)
}

/** The same in one line, for a sentence that quotes what somebody gave. */
export function asOneLine(text: string): string {
  return escapeInvisible(text.replace(CONTROL, escaped))
}

/** The message of an error in one line, however many problems it has. */
export function sentenceOf(error: Error): string {
  const parts =
    error instanceof ConfigError
      ? error.problems.map(({ setting, problem }) => `${setting} ${problem}`)
      : [error.message]
  return parts.map(asOneLine).join('; ')
}

function escaped(text: string): string {
  return Array.from({ length: text.length }, (_, at) => {
    return `\\u${text.charCodeAt(at).toString(16).padStart(4, '0')}`
  }).join('')
}
