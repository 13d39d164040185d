import { cp, mkdir, readFile, readdir, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import {
  isServerRunning,
  makeFreshHome,
  removeFreshHomes,
  type FreshHome,
} from '../support/fresh-home.js'
import { endPrograms, repositoryDirectory, startProgram } from '../support/run-cli.js'

/** What npm needs to reach a registry and its cache; the rest of the environment stays out. */
const NPM_VARIABLES =
  /^(?:HOME|NODE_EXTRA_CA_CERTS|SSL_CERT_FILE|(?:https?|no)_proxy|npm_config_(?:cache|registry|userconfig|cafile|proxy|https_proxy))$/i

const npmEnvironment = Object.fromEntries(
  Object.entries(process.env).filter(
    (entry): entry is [string, string] => NPM_VARIABLES.test(entry[0]) && entry[1] !== undefined,
  ),
)

const PACKED = ['package.json', 'README.md', 'CHANGELOG.md', 'LICENSE', 'sql', 'src', 'config']
const NEEDED_TO_BUILD = ['tsconfig.json', 'tsconfig.build.json', 'scripts']
const NPM_LIMIT_MS = 120_000

async function npm(directory: string, args: readonly string[]): Promise<string> {
  const options = { directory, env: npmEnvironment, deadlineMs: NPM_LIMIT_MS }
  const { exitCode, stdout, stderr } = await startProgram('npm', args, options).ended
  if (exitCode !== 0) throw new Error(`npm ${args.join(' ')} failed:\n${stdout}\n${stderr}`)
  return stdout
}

async function filesBelow(directory: string, ...path: string[]): Promise<string[]> {
  const entries = await readdir(join(directory, ...path), {
    recursive: true,
    withFileTypes: true,
  })
  return entries
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(directory.length + 1))
}

describe('the package', () => {
  let sources: FreshHome
  let project: FreshHome
  let installed: string

  beforeAll(async () => {
    // In a copy: packing deletes and builds dist/, which other tests run meanwhile.
    sources = await makeFreshHome()
    for (const name of [...PACKED, ...NEEDED_TO_BUILD]) {
      await cp(join(repositoryDirectory, name), join(sources.directory, name), { recursive: true })
    }
    await symlink(
      join(repositoryDirectory, 'node_modules'),
      join(sources.directory, 'node_modules'),
    )
    // Things that lie about in a checkout and are nobody else's business.
    await writeFile(join(sources.directory, '.env'), 'TRACKING_API_KEY=canary-key\n')
    await mkdir(join(sources.directory, 'dist'))
    await writeFile(join(sources.directory, 'dist', 'forgotten.js'), '')
    await mkdir(join(sources.directory, 'test'))
    await writeFile(join(sources.directory, 'test', 'one.test.ts'), '')

    const packed = await npm(sources.directory, ['pack', '--silent'])
    const tarball = packed.trim().split('\n').at(-1)!
    project = await makeFreshHome()
    await writeFile(join(project.directory, 'package.json'), '{ "private": true }\n')
    await npm(project.directory, [
      'install',
      join(sources.directory, tarball),
      '--prefer-offline',
      '--no-audit',
      '--no-fund',
    ])
    installed = join(project.directory, 'node_modules', 'tracking-sync')
  }, 2 * NPM_LIMIT_MS)

  afterAll(async () => {
    await endPrograms()
    await removeFreshHomes()
  })

  it('holds exactly the built program, its SQL, the example configuration and the documents (S14)', async () => {
    const sql: string[] = []
    for (const directory of ['migrations', 'queries', 'views']) {
      const files = await filesBelow(
        repositoryDirectory.replace(/\/$/, ''),
        'sql',
        directory,
      ).catch(() => [])
      sql.push(...files.filter((file) => file.endsWith('.sql')))
    }
    const expected = [
      'CHANGELOG.md',
      'LICENSE',
      'README.md',
      'package.json',
      'config/tracking-sync.example.json',
      'sql/schema.sql',
      'dist/program/cli.js',
      'dist/program/licences.txt',
      ...sql,
    ]
    const files = await filesBelow(installed)
    // What the program is divided into has names that change with what is in it.
    const isPart = (file: string): boolean => /^dist\/program\/[\w-]+-[\w-]{8}\.js$/.test(file)
    expect(files.filter((file) => !isPart(file)).sort()).toEqual(expected.sort())
    expect(files.filter(isPart).length).toBeGreaterThan(10)
  })

  it('holds no source map, no path of the machine it was made on and no secret (S14)', async () => {
    for (const file of await filesBelow(installed)) {
      const text = await readFile(join(installed, file), 'utf8')
      const found = [
        'sourceMappingURL',
        repositoryDirectory,
        sources.directory,
        'canary-key',
        'PRIVATE KEY',
      ].filter((part) => text.includes(part))
      expect({ file, found }).toEqual({ file, found: [] })
    }
  })

  it('brings the command, which tells its version and runs the demo from there', async () => {
    const bin = join(project.directory, 'node_modules', '.bin', 'tracking-sync')
    const { version } = JSON.parse(
      await readFile(join(repositoryDirectory, 'package.json'), 'utf8'),
    ) as { version: string }
    const { directory } = await makeFreshHome()
    expect(await startProgram(bin, ['--version'], { directory }).ended).toMatchObject({
      exitCode: 0,
      stdout: `${version}\n`,
      stderr: '',
    })
    const small = ['demo', '--shipments', '60']
    const demo = await startProgram(bin, small, { directory: project.directory }).ended
    expect(demo.exitCode).toBe(0)
    expect(demo.stdout).toMatch(/^shipments +60 +0 +0 +0$/m)
    expect(demo.stdout).toMatch(/^(?:[A-Z]{4}\d{7}|\d{4}-\d\d-\d\d) .*/m)
    expect(await isServerRunning(project)).toBe(false)
  })
})
