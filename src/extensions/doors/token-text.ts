import { createHash, randomBytes, timingSafeEqual } from 'node:crypto'

/** 256 bits, as 43 characters. */
const SECRET_BYTES = 32
/** To look it up by. */
const ID_BYTES = 6

/** The first sign says what the text is, also to programs that look for leaked secrets. */
const TOKEN = /^tsq_([\da-f]{12})_[\w-]{43}$/

/** A new text of a token, which is printed once; only its hash is stored. */
export function makeTokenText(): string {
  const id = randomBytes(ID_BYTES).toString('hex')
  return `tsq_${id}_${randomBytes(SECRET_BYTES).toString('base64url')}`
}

/** The id in a text that looks like a token; undefined for another text. */
export function tokenIdOf(text: string): string | undefined {
  return TOKEN.exec(text)?.[1]
}

export function hashOf(text: string): Buffer {
  return createHash('sha256').update(text).digest()
}

/** Takes equally long for every wrong text. */
export function isTextOf(text: string, hash: Buffer): boolean {
  return timingSafeEqual(hashOf(text), hash)
}
