import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, beforeEach } from 'vitest'

/** A new folder for each test of a file, or for the file, which goes with it. */
export function useFolder(owner: 'test' | 'file' = 'test'): { readonly path: string } {
  let path = ''
  const [before, after] = owner === 'test' ? [beforeEach, afterEach] : [beforeAll, afterAll]
  before(() => {
    path = mkdtempSync(join(tmpdir(), 'tracking-sync-test-'))
  })
  after(() => {
    rmSync(path, { recursive: true, force: true })
  })
  return {
    get path() {
      return path
    },
  }
}
