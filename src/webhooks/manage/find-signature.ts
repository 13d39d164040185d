import { createHmac } from 'node:crypto'
import type { SignatureSettings } from '../receive/signature.js'

export type SignatureForm = Omit<SignatureSettings, 'secrets'>

const ALGORITHMS = ['sha256', 'sha512', 'sha1'] as const
const ENCODINGS = ['hex', 'base64'] as const

/**
 * Looks in all headers for a signature of the body made with `secret`, whatever its header, hash
 * and encoding, which the interface leaves open. `rawHeaders`: names and values in turn.
 */
export function findSignature(
  rawHeaders: readonly string[],
  body: Buffer,
  secret: string,
): SignatureForm | undefined {
  for (const algorithm of ALGORITHMS) {
    const digest = createHmac(algorithm, secret).update(body).digest()
    for (const encoding of ENCODINGS) {
      const encoded = digest.toString(encoding)
      const at = rawHeaders.findIndex((text, index) => index % 2 === 1 && text.endsWith(encoded))
      const header = rawHeaders[at - 1]
      if (header === undefined) continue
      const prefix = rawHeaders[at]?.slice(0, -encoded.length) ?? ''
      return { header, algorithm, encoding, prefix }
    }
  }
  return undefined
}
