import { spawnSync } from 'node:child_process'
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, expect, it } from 'vitest'

const ROOT = fileURLToPath(new URL('../..', import.meta.url))
const directory = mkdtempSync(join(tmpdir(), 'tracking-sync-release-'))
afterAll(() => {
  rmSync(directory, { recursive: true })
})

function check(): { status: number | null; stdout: string } {
  const script = join(ROOT, 'scripts/check-release.js')
  return spawnSync(process.execPath, [script, 'version'], { cwd: directory, encoding: 'utf8' })
}

/** A change of one file of the copy, taken back before the next one. */
function change(file: string, from: string | RegExp, to: string): void {
  const text = readFileSync(join(ROOT, file), 'utf8')
  expect(text).toMatch(from)
  writeFileSync(join(directory, file), text.replace(from, to))
}

it('a release has one version, wherever it is told, and nothing under Unreleased', () => {
  mkdirSync(join(directory, 'docs'))
  const { version } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as {
    version: string
  }
  const places = ['package-lock.json', 'server.json', 'CHANGELOG.md', 'README.md']
  const files = [...places, 'docs/operating.md', 'docs/tutorial.md', 'package.json']
  const restore = (): void => {
    for (const file of files) cpSync(join(ROOT, file), join(directory, file))
    // Between two releases, entries are there.
    change('CHANGELOG.md', /## Unreleased\n[^]*?(?=^## \d)/m, '## Unreleased\n\n')
  }
  restore()
  expect(check()).toMatchObject({
    status: 0,
    stdout: `ok    version   ${version} in package.json and 8 other places\n`,
  })
  for (const file of files.filter((name) => name !== 'package.json')) {
    const first = file === 'CHANGELOG.md' ? `## ${version}` : version
    change(file, first, first.replace(version, '9.9.9'))
  }
  const { status, stdout } = check()
  expect({ status, told: stdout.split(': 9.9.9').length - 1 }).toEqual({ status: 1, told: 6 })
  for (const file of files) expect(stdout).toContain(file)
  restore()
  change('CHANGELOG.md', /## Unreleased\n[^]*?(?=^## \d)/m, '## Unreleased\n\n- A door.\n\n')
  expect(check()).toMatchObject({ status: 1 })
})
