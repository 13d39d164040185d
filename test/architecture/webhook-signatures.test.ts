import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'

const WEBHOOKS = fileURLToPath(new URL('../../src/webhooks', import.meta.url))
const read = (name: string): string => readFileSync(join(WEBHOOKS, name), 'utf8')

/** Names of values whose comparison must not end early; texts and `undefined` are not secret. */
const SECRET = '\\b(?:signature|digest|hmac|mac|wanted|given|secret)\\b'
const BY_METHOD = '\\.(?:equals|compare|includes|indexOf|localeCompare|has)\\('
/** An operator or a method that stops at the first difference. */
const ENDS_EARLY = new RegExp(
  `${SECRET}\\s*(?:[=!]==?(?![=\\s]*(?:'|undefined))|${BY_METHOD})|(?:[=!]==?|${BY_METHOD})\\s*${SECRET}`,
)

describe('signatures are compared in constant time', { tags: ['W4'] }, () => {
  it('nowhere by an operator or a method that ends at the first difference', () => {
    for (const name of ['receive/signature.ts', 'receive/receive.ts']) {
      expect(read(name)).not.toMatch(ENDS_EARLY)
    }
    for (const early of [
      'digest === other',
      'other == wanted',
      'if (wanted.equals(given)) run()',
    ]) {
      expect(early).toMatch(ENDS_EARLY)
    }
    expect("if (signature === 'insecure') run()").not.toMatch(ENDS_EARLY)
  })

  it('in one file only, by timingSafeEqual', () => {
    const files = readdirSync(WEBHOOKS, { recursive: true, encoding: 'utf8' }).filter(
      (name) => name.endsWith('.ts') && /\bcreateHmac\b/.test(read(name)),
    )
    expect(files).toEqual(['receive/signature.ts'])
    const text = read('receive/signature.ts')
    // Called for every secret, and before anything is returned.
    expect(text).toMatch(/for \(const secret of secrets\) \{[^}]*timingSafeEqual\([^}]*\}\s*return/)
    expect(text).not.toMatch(/timingSafeEqual\([^)]*\)\s*(?:&&|\?)/)
  })
})
