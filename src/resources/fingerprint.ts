import { hash } from 'node:crypto'
import type { EncodedValue } from './column.js'
import type { Resource } from './resource.js'

/** How many characters of the fingerprint end a digest: see `Sighting.digest`. */
export const FINGERPRINT_IN_DIGEST = 4

export function rowDigest(resource: Resource, digest: string, rowFingerprint: string): string {
  return resource.readingMark + digest + rowFingerprint.slice(0, FINGERPRINT_IN_DIGEST)
}

/** Whether a row's digest is of a record with this digest, as this version reads it. */
export function isDigestOf(rowDigest: string, resource: Resource, digest: string): boolean {
  const { readingMark } = resource
  return rowDigest.startsWith(readingMark) && rowDigest.startsWith(digest, readingMark.length)
}

/** 128 bits: two different rows of one account never meet in it. Absent and null differ. */
export function fingerprint(
  values: readonly (EncodedValue | undefined)[],
  unmapped: EncodedValue,
  coercions: EncodedValue,
): string {
  const parts: (string | number | null)[] = []
  for (const value of values) parts.push(value === undefined ? 0 : value)
  parts.push(unmapped, coercions)
  return hash('sha256', JSON.stringify(parts), 'base64url').slice(0, 22)
}
