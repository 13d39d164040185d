import { createHmac, timingSafeEqual } from 'node:crypto'
import { ConfigError } from '../../base/errors.js'
import { webhookSecretProblem } from '../../base/service-address.js'

export interface SignatureSettings {
  /** The present secret first; several while one replaces another. */
  readonly secrets: readonly string[]
  /** Name of the header, in any case. */
  readonly header: string
  readonly algorithm: 'sha256' | 'sha512' | 'sha1'
  readonly encoding: 'hex' | 'base64'
  /** The text before the signature, such as `sha256=`; usually empty. */
  readonly prefix: string
}

/** Whether one of our secrets signed a delivery. `rawHeaders`: names and values in turn. */
export type SignatureCheck = (rawHeaders: readonly string[], body: Buffer) => boolean

/**
 * The only valid form of a signature by each algorithm. `Buffer.from` would also accept upper case,
 * junk after the digits, an empty text, and base64 texts that differ in unused bits.
 */
const STRICT_FORM: Readonly<Record<SignatureSettings['algorithm'], Record<string, RegExp>>> = {
  sha256: { hex: /^[0-9a-f]{64}$/, base64: /^[A-Za-z0-9+/]{42}[AEIMQUYcgkosw048]=$/ },
  sha512: { hex: /^[0-9a-f]{128}$/, base64: /^[A-Za-z0-9+/]{85}[AQgw]==$/ },
  sha1: { hex: /^[0-9a-f]{40}$/, base64: /^[A-Za-z0-9+/]{26}[AEIMQUYcgkosw048]=$/ },
}

const DIGEST_BYTES = { sha256: 32, sha512: 64, sha1: 20 } as const

/**
 * Makes the check of the HMAC over a delivery's raw bytes. Every refused form costs the same work,
 * the comparison takes the same time wherever the digests differ, and a repeated header is refused.
 * Throws ConfigError without a secret, or for an impossible one.
 */
export function createSignatureCheck(settings: SignatureSettings): SignatureCheck {
  const { secrets, algorithm, encoding, prefix } = settings
  checkSecrets(secrets)
  const header = settings.header.toLowerCase()
  const strictForm = STRICT_FORM[algorithm][encoding]
  const absent = Buffer.alloc(DIGEST_BYTES[algorithm])
  return (rawHeaders, body) => {
    const text = onlyValue(rawHeaders, header)
    const isPrefixed = text?.startsWith(prefix) ?? false
    const encoded = text?.slice(prefix.length) ?? ''
    const isWellFormed = isPrefixed && strictForm?.test(encoded) === true
    const given = isWellFormed ? Buffer.from(encoded, encoding) : absent
    let isSigned = false
    for (const secret of secrets) {
      const wanted = createHmac(algorithm, secret).update(body).digest()
      // No early end: the time must not tell which secret matched.
      isSigned = timingSafeEqual(wanted, given) || isSigned
    }
    return isSigned && isWellFormed
  }
}

function checkSecrets(secrets: readonly string[]): void {
  const problems = secrets.map(webhookSecretProblem).filter((problem) => problem !== undefined)
  if (secrets.length === 0) problems.push('is not set')
  if (problems.length === 0) return
  throw new ConfigError(
    problems.map((problem) => ({ setting: 'TRACKING_WEBHOOK_SECRET', problem })),
  )
}

/** Undefined if the header is missing or repeated: Node would join the values. */
function onlyValue(rawHeaders: readonly string[], name: string): string | undefined {
  const values = rawHeaders.filter(
    (_, index) => index % 2 === 1 && rawHeaders[index - 1]?.toLowerCase() === name,
  )
  return values.length === 1 ? values[0] : undefined
}
