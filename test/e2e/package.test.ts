import { chown, cp, mkdir, readFile, readdir, rm, symlink, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it, test } from 'vitest'
import { chooseAccount, type Account } from '../../src/extensions/embedded-postgres/area.js'
import {
  isServerRunning,
  makeFreshHome,
  removeFreshHomes,
  type FreshHome,
} from '../support/fresh-home.js'
import {
  endPrograms,
  repositoryDirectory,
  startProgram,
  type ProgramOptions,
  type ProgramResult,
} from '../support/run-cli.js'

/**
 * Variables that npm needs to reach a registry and its cache; the rest of the environment is left
 * out.
 */
const NPM_VARIABLES =
  /^(?:HOME|NODE_EXTRA_CA_CERTS|SSL_CERT_FILE|(?:https?|no)_proxy|npm_config_(?:cache|registry|userconfig|cafile|proxy|https_proxy))$/i

const npmEnvironment = Object.fromEntries(
  Object.entries(process.env).filter(
    (entry): entry is [string, string] => NPM_VARIABLES.test(entry[0]) && entry[1] !== undefined,
  ),
)

const PACKED = [
  'package.json',
  'README.md',
  'CHANGELOG.md',
  'LICENSE',
  'CONTRIBUTING.md',
  'SECURITY.md',
  'docs',
  'man',
  'package-lock.json',
  'sql',
  'bin',
  'src',
  'config',
]
const NEEDED_TO_BUILD = ['.npmrc', 'tsconfig.json', 'tsconfig.build.json', 'scripts']
/** Made by packing, and the files beside the folders. */
const MADE = ['dist/program/cli.js', 'dist/program/licences.txt', 'npm-shrinkwrap.json']
const AT_THE_TOP = PACKED.filter((name) => /^[A-Z]|^package\.json$/.test(name))
const NPM_LIMIT_MS = 120_000
const MANIFEST = JSON.parse(await readFile(join(repositoryDirectory, 'package.json'), 'utf8')) as {
  version: string
  scripts: Record<string, string>
}

async function npm(
  directory: string,
  args: readonly string[],
  more: Partial<ProgramOptions> = {},
): Promise<string> {
  const env = { ...npmEnvironment, ...more.env }
  const options = { directory, deadlineMs: NPM_LIMIT_MS, ...more, env }
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

/** Root tries it as an account without rights, everybody else as themselves. */
async function chooseUser(): Promise<Account | undefined> {
  if (process.getuid?.() !== 0) return undefined
  return chooseAccount(await readFile('/etc/passwd', 'utf8'))
}

/** A cache that the account may read and write, with what ours holds. */
async function cacheFor(account: Account | undefined, home: string): Promise<string | undefined> {
  if (account === undefined) return undefined
  const cache = join(home, '.npm')
  const ours = (await npm(home, ['config', 'get', 'cache'])).trim()
  await cp(join(ours, '_cacache'), join(cache, '_cacache'), { recursive: true }).catch(
    () => undefined,
  )
  await mkdir(cache, { recursive: true })
  const owner = `${account.uid}:${account.gid}`
  await startProgram('chown', ['-R', owner, cache], { directory: home }).ended
  return cache
}

interface Locked {
  readonly version: string
  readonly dev?: boolean
  readonly dependencies?: Readonly<Record<string, string>>
}

describe('the package', () => {
  let sources: FreshHome
  let user: FreshHome
  let account: Account | undefined
  let prefix: string
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

    await npm(sources.directory, ['run', '--silent', 'package'])
    user = await makeFreshHome()
    account = await chooseUser()
    const tarball = `tracking-sync-${MANIFEST.version}.tgz`
    await cp(join(sources.directory, tarball), join(user.directory, tarball))
    prefix = join(user.directory, 'prefix')
    const cache = await cacheFor(account, user.directory)
    if (account !== undefined) await chown(user.directory, account.uid, account.gid)
    await npm(
      user.directory,
      ['install', '--global', '--ignore-scripts', `./${tarball}`]
        .concat(['--prefix', prefix, '--prefer-offline', '--no-audit', '--no-fund'])
        .concat(cache === undefined ? [] : ['--cache', cache]),
      { account, env: { HOME: user.directory } },
    )
    installed = join(prefix, 'lib', 'node_modules', 'tracking-sync')
  }, 2 * NPM_LIMIT_MS)

  afterAll(async () => {
    await endPrograms()
    await removeFreshHomes()
  })

  it('holds what is listed, and nothing of its making', { tags: ['S14', 'JD8'] }, async () => {
    // Without its dependencies, which are installed below it.
    const files = (await filesBelow(installed)).filter((file) => !file.startsWith('node_modules/'))
    const shared = ['docs', 'config', 'sql', 'man', 'bin']
    const ours = await Promise.all(
      shared.map((folder) => filesBelow(repositoryDirectory.replace(/\/$/, ''), folder)),
    )
    // One is for a checkout with containers, the other is what a user makes.
    const isElsewhere = /^config\/(?:compose-logins\.sql|tracking-sync\.json)$/
    const needed = ours.flat().filter((file) => !isElsewhere.test(file))
    // The names of the program's parts contain a hash of their contents.
    const isPart = (file: string): boolean => /^dist\/program\/[\w-]+-[\w-]{8}\.js$/.test(file)
    const others = files.filter((file) => !isPart(file))
    expect(others.sort()).toEqual([...needed, ...MADE, ...AT_THE_TOP].sort())
    expect(files.filter(isPart).length).toBeGreaterThan(10)
    const ofTests = ['simulated crash', 'TRACKING_FAILPOINT']
    const ofMaking = [repositoryDirectory, sources.directory, 'canary-key', 'PRIVATE KEY']
    for (const file of files) {
      const text = await readFile(join(installed, file), 'utf8')
      const unwanted = [...(file.endsWith('.js') ? ofTests : []), ...ofMaking, 'sourceMappingURL']
      const found = unwanted.filter((part) => text.includes(part))
      expect({ file, found }).toEqual({ file, found: [] })
    }
  })

  it('brings the versions of our lock, and names no registry', async () => {
    const lock = JSON.parse(
      await readFile(join(repositoryDirectory, 'package-lock.json'), 'utf8'),
    ) as { packages: Record<string, Locked> }
    const text = await readFile(join(installed, 'npm-shrinkwrap.json'), 'utf8')
    expect(text).not.toMatch(/"resolved"|https?:\/\/(?:[\w.-]*registry)/)
    const { packages } = JSON.parse(text) as typeof lock
    expect(packages['']).not.toHaveProperty('devDependencies')
    const shipped = Object.entries(lock.packages).filter(
      ([path, one]) => path !== '' && one.dev !== true,
    )
    expect(Object.keys(packages).sort()).toEqual(['', ...shipped.map(([path]) => path)].sort())
    for (const [path, { version }] of shipped) {
      expect([path, packages[path]?.version]).toEqual([path, version])
    }
    // npm respects that file only in a package from a registry. Here the package is a local file,
    // so indirect dependencies may have newer patches.
    const root = lock.packages['']!.dependencies ?? {}
    expect(Object.keys(root).length).toBeGreaterThan(10)
    for (const [name, version] of Object.entries(root)) {
      const manifest = await readFile(join(installed, 'node_modules', name, 'package.json'), 'utf8')
      expect(JSON.parse(manifest)).toMatchObject({ name, version })
    }
  })

  /** The shell finds the command by this search path, without any file of the checkout. */
  const PATH = (): string => `${join(prefix, 'bin')}:${dirname(process.execPath)}:/usr/bin:/bin`

  const shell = (line: string, more: Omit<ProgramOptions, 'env'>): Promise<ProgramResult> =>
    startProgram('/bin/sh', ['-c', line], { ...more, env: { PATH: PATH() } }).ended

  test('gives its user a command, and the demo', { tags: ['FD1', 'FC5', 'release'] }, async () => {
    const { directory } = user
    expect(await shell('tracking-sync --version', { directory, account })).toMatchObject({
      exitCode: 0,
      stdout: `${MANIFEST.version}\n`,
      stderr: '',
    })
    const demo = await shell('tracking-sync demo --shipments 60', { directory, account })
    expect(demo.exitCode).toBe(0)
    expect(demo.stdout).toMatch(/^shipments +60 +0 +0 +0$/m)
    const [told = '', hints = ''] = demo.stdout.split('What to try next:')
    const answers = [
      ...told.matchAll(/^.*\((pickups|costs|arrivals)[^]*?^-+ [^]*?^(?:[A-Z]{4}\d{7}|\d{4}-)/gm),
    ]
    expect(answers.map(([, question]) => question)).toEqual(['pickups', 'costs', 'arrivals'])
    expect(told.split('\n').filter((line) => line.length > 80)).toEqual([])
    expect(hints).toContain('\n    tracking-sync query pickups --schema tracking_demo\n')
    expect(hints).not.toMatch(/\bnp[mx]\b/)
    expect(await isServerRunning(user)).toBe(false)
  })

  test('says what to do in a checkout that was not built', { tags: ['FD1'] }, async () => {
    const { directory } = sources
    await rm(join(directory, 'dist'), { recursive: true })
    const bin = join(directory, 'bin', 'tracking-sync.cjs')
    expect(await startProgram(bin, ['status'], { directory }).ended).toMatchObject({
      exitCode: 2,
      stdout: '',
      stderr: `error: tracking-sync is not built: run "npm ci && npm run build" in ${directory}\n`,
    })
    expect(await shell('tracking-sync --version', { directory: '/' })).toMatchObject({
      exitCode: 0,
    })
  })

  test.each(['18.20.4', '20.18.3', '12.22.9'])(
    'tells Node.js %s which version it needs, before it loads anything',
    { tags: ['FD7'] },
    async (version) => {
      const old = `Object.defineProperty(process,'versions',{value:{...process.versions,node:'${version}'}})`
      const preload = join(user.directory, `node-${version}.cjs`)
      await writeFile(preload, old)
      expect(MANIFEST.scripts.build).toMatch(/^node bin\/require-node\.cjs && /)
      for (const entry of ['bin/require-node.cjs', 'bin/tracking-sync.cjs']) {
        const args = ['--require', preload, join(installed, entry), 'status']
        const said = await startProgram(process.execPath, args, { directory: '/' }).ended
        expect(said).toMatchObject({ exitCode: 2, stdout: '' })
        expect(said.stderr).toMatch(/^error: tracking-sync needs Node\.js 20\.19 or later, .*\n$/)
        expect(said.stderr).toContain(` ${version} `)
      }
    },
  )
})
