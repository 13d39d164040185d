import { readFileSync } from 'node:fs'
import { join } from 'node:path'

/** The safeguards that `npm run test:mutants` takes out, each with the test that must notice. */
export function readMutants(root) {
  return JSON.parse(readFileSync(join(root, 'test/catalogue/mutants.json'), 'utf8'))
}

/** The changes of a mutant, one after the other: several where one guard stands behind another. */
export function editsOf({ safeguard, file, from, to, also = [] }) {
  return [{ file, from, to }, ...also].map((edit) => ({ safeguard, ...edit }))
}

/**
 * The text of the file without the safeguard. Throws when what to replace does not stand in it
 * exactly once.
 */
export function applyEdit(text, { safeguard, file, from, to }) {
  const parts = text.split(from)
  if (parts.length !== 2) {
    throw new Error(
      `${safeguard}: found ${String(parts.length - 1)} times in ${file}, must be once: ${from}`,
    )
  }
  return parts.join(to)
}
