import { createHmac } from 'node:crypto'
import type { SignatureSettings } from '../receive/signature.js'

export type SignatureForm = Omit<SignatureSettings, 'secrets'>

const ALGORITHMS: readonly SignatureForm['algorithm'][] = ['sha256', 'sha512', 'sha1']
const ENCODINGS: readonly SignatureForm['encoding'][] = ['hex', 'base64']

/**
 * Looks in all headers for a signature of the body made with `secret`, whatever header, hash and notation it has: the interface leaves them open, and a
 * sample tells. `rawHeaders` as Node has them. Undefined when there is none.
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
      for (let index = 0; index + 1 < rawHeaders.length; index += 2) {
        const [header = '', value = ''] = rawHeaders.slice(index, index + 2)
        if (!value.endsWith(encoded)) continue
        return { header, algorithm, encoding, prefix: value.slice(0, -encoded.length) }
      }
    }
  }
  return undefined
}
