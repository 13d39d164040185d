/**
 * What a release needs, a line each: `npm run release:check`. Goes on after a failure, and ends
 * with 1 if there was one. `-- version pages` runs these checks only. Needs the network or a filled
 * npm cache, as `npm ci` does.
 *
 * Makes the tarball by `npm run package`, and installs it as a stranger does: in an empty directory
 * and home, with the install scripts of packages blocked, and, when this user is root, as an
 * account without rights. package.test.ts says what the tarball holds.
 */
import { spawnSync } from 'node:child_process'
import * as fs from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

const CHECKS = { version, pages, licences, audit, tarball, install, command, demo }

const read = (file) => fs.readFileSync(file, 'utf8')
const manifest = JSON.parse(read('package.json'))
const file = `${manifest.name}-${manifest.version}.tgz`
const PROGRAM = 'node_modules/.bin/tracking-sync'

/** Where the program knows its own version from, and where people read it. */
function version() {
  const [lock, server] = ['package-lock.json', 'server.json'].map((name) => JSON.parse(read(name)))
  const changes = read('CHANGELOG.md')
  const [, released] = /^## (\d\S*) - \d{4}-\d\d-\d\d$/m.exec(changes) ?? []
  const installed = (page) => /tracking-sync-(\S+)\.tgz/.exec(read(page))?.[1]
  const places = {
    'package-lock.json': lock.version,
    'package-lock.json, its first package': lock.packages[''].version,
    'server.json': server.version,
    'server.json, its package': server.packages[0].version,
    'CHANGELOG.md, its first version': released,
    'README.md': installed('README.md'),
    'docs/operating.md': installed('docs/operating.md'),
    'docs/tutorial.md': installed('docs/tutorial.md'),
  }
  const others = Object.entries(places).filter(([, told]) => told !== manifest.version)
  const list = others.map(([place, told]) => `${place}: ${told ?? 'none'}`)
  if (list.length > 0) throw new Error([`package.json has ${manifest.version}`, ...list].join('; '))
  if (/^## Unreleased\n+(?!## )\S/m.test(changes)) {
    throw new Error('CHANGELOG.md has entries under Unreleased: move them to the version')
  }
  return `${manifest.version} in package.json and ${Object.keys(places).length} other places`
}

/** Writes the generated pages again. Differences stay, to be looked at and committed. */
function pages() {
  run('npm', ['run', '--silent', 'docs'])
  const written = ['docs', 'sql', 'config', 'man']
  const { stdout } = run('git', ['status', '--porcelain', '--', ...written])
  if (stdout !== '') throw new Error(`differ from what is committed:\n${stdout.trimEnd()}`)
  return `${written.join(', ')} are as the program writes them`
}

function licences() {
  const { stdout } = run('npm', ['run', '--silent', 'licences'])
  return stdout.trimEnd().replaceAll('\n', ', ')
}

function audit() {
  return run('npm', ['run', 'audit']).stdout.trim().split('\n').at(-1)
}

function tarball() {
  fs.rmSync(file, { force: true })
  run('npm', ['run', '--silent', 'package'])
  const lines = run('tar', ['-tzf', file]).stdout.trimEnd().split('\n')
  return `${file}, ${lines.length} files`
}

const work = fs.mkdtempSync(join(tmpdir(), 'tracking-sync-release-'))
const stranger = { home: join(work, 'home'), place: join(work, 'place') }

/** The account of PostgreSQL where there is one, else the one that owns nothing. */
function findAccount() {
  if (process.getuid?.() !== 0) return {}
  const accounts = read('/etc/passwd')
  const [, name, uid, gid] =
    /^(postgres):[^:]*:(\d+):(\d+)/m.exec(accounts) ?? /^(nobody):[^:]*:(\d+):(\d+)/m.exec(accounts)
  return { name, uid: Number(uid), gid: Number(gid) }
}

function install() {
  const { name = 'this user', uid, gid } = findAccount()
  fs.chmodSync(work, 0o755)
  for (const directory of Object.values(stranger)) fs.mkdirSync(directory)
  fs.copyFileSync(file, join(stranger.place, file))
  // Without the network, what is in our cache is enough.
  const cache = join(run('npm', ['config', 'get', 'cache']).stdout.trim(), '_cacache')
  const own = join(stranger.home, '.npm')
  if (fs.existsSync(cache)) fs.cpSync(cache, join(own, '_cacache'), { recursive: true })
  if (uid !== undefined) run('chown', ['-R', `${uid}:${gid}`, work])
  Object.assign(stranger, { uid, gid })
  const args = ['install', '--ignore-scripts', '--prefer-offline', '--no-audit', '--no-fund']
  asStranger('npm', [...args, '--cache', own, `./${file}`])
  const packages = fs.readdirSync(join(stranger.place, 'node_modules')).length
  return `as ${name}, in an empty directory and home, without scripts: ${packages} names`
}

function command() {
  const { stdout: told } = asStranger(PROGRAM, ['--version'])
  if (told !== `${manifest.version}\n`) throw new Error(`--version says ${told.trim()}`)
  const { stdout: listed } = asStranger(PROGRAM, ['--help'])
  const commands = listed.match(/^ {2}[a-z][\w-]* /gm)?.length ?? 0
  if (commands < 20) throw new Error(`--help lists ${commands} commands`)
  return `--version says ${manifest.version}, --help lists ${commands} commands`
}

function demo() {
  const { stdout } = asStranger(PROGRAM, ['demo', '--shipments', '60'])
  const [, answer = ''] = stdout.split(/^.*\(pickups\)$/m)
  const [first] = /^[A-Z]{4}\d{7} .*$/m.exec(answer) ?? []
  if (first === undefined) throw new Error(`the demo answers nothing:\n${stdout.slice(-500)}`)
  return `the first answer of the demo begins with ${first.split(' ')[0]}`
}

function asStranger(name, args) {
  const { home, place, uid, gid } = stranger
  const passed = /^(?:PATH|NODE_EXTRA_CA_CERTS|(?:https?|no)_proxy|npm_config_registry)$/i
  const shared = Object.entries(process.env).filter(([variable]) => passed.test(variable))
  const env = { ...Object.fromEntries(shared), HOME: home }
  return run(name, args, { cwd: place, env, uid, gid })
}

/** Throws what a command that failed has printed last. */
function run(name, args, options = {}) {
  const done = spawnSync(name, args, { encoding: 'utf8', maxBuffer: 2 ** 26, ...options })
  if (done.error !== undefined) throw done.error
  if (done.status === 0) return done
  const said = `${done.stdout}${done.stderr}`.split('\n').filter(Boolean).slice(-12).join('\n')
  throw new Error(`${name} ${args.join(' ')} ended with ${done.status ?? done.signal}:\n${said}`)
}

try {
  const asked = process.argv.slice(2)
  for (const [name, check] of Object.entries(CHECKS)) {
    if (asked.length > 0 && !asked.includes(name)) continue
    let line
    try {
      line = `ok    ${name.padEnd(9)} ${check()}`
    } catch (thrown) {
      line = `FAIL  ${name.padEnd(9)} ${thrown.message}`
      process.exitCode = 1
    }
    process.stdout.write(`${line}\n`)
  }
} finally {
  fs.rmSync(work, { recursive: true, force: true })
}
