import { mkdtemp, mkdir, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { createCanaryScanner } from '../../support/canary-scanner.js'

const SECRET = 'canary/key+9f3a= "ü'

/** The scanner that finds nothing is believed, so it must find. */
test.each([
  ['plain', SECRET],
  ['URL-encoded', encodeURIComponent(SECRET)],
  ['URL-encoded twice', encodeURIComponent(encodeURIComponent(SECRET))],
  ['form-encoded', new URLSearchParams({ key: SECRET }).toString()],
  ['in JSON', JSON.stringify({ key: SECRET })],
  ['hex', Buffer.from(`x${SECRET}y`).toString('hex').toUpperCase()],
  ...['', 'x', 'me:', 'Token '].map((before) => [
    `base64 after "${before}"`,
    Buffer.from(`${before}${SECRET}:after`).toString('base64'),
  ]),
  ['base64url', Buffer.from(`user:${SECRET}`).toString('base64url')],
])('the scanner finds a secret %s', { tags: ['S1'] }, (_form, text) => {
  const scanner = createCanaryScanner({ key: SECRET })
  scanner.text('a log line', `{"msg":"before ${text} after"}`)
  expect(scanner.findings().length).toBeGreaterThan(0)
  expect(scanner.findings()[0]).toMatch(/^a log line: key \(/)
  expect(scanner.findings().join()).not.toContain(SECRET)
})

test('the scanner finds nothing where nothing is', { tags: ['S1'] }, async () => {
  const scanner = createCanaryScanner({ key: SECRET, password: 'canary-pass-7c1e' })
  const directory = await mkdtemp(join(tmpdir(), 'tracking-sync-canary-'))
  try {
    await writeFile(join(directory, 'fine.log'), 'canary/key canary-pass')
    await writeFile(join(directory, '.env'), SECRET)
    await scanner.files(directory, ['.env'])
    expect(scanner.findings()).toEqual([])
    await mkdir(join(directory, 'deep'))
    await writeFile(
      join(directory, 'deep', 'core'),
      Buffer.from('\u0000\u0001canary-pass-7c1e\u0000'),
    )
    await scanner.files(directory, ['.env'])
    expect(scanner.findings()).toEqual([`${directory}/deep/core: password (plain)`])
  } finally {
    await rm(directory, { recursive: true, force: true })
  }
})
