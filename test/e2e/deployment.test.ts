import { spawnSync, type SpawnSyncReturns } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import pg from 'pg'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { callProgram } from '../support/call-cli.js'
import { openOwnServer } from '../support/own-server.js'
import { endPrograms, repositoryDirectory, startProgram } from '../support/run-cli.js'

const inRepository = (...path: string[]): string => join(repositoryDirectory, ...path)
const read = (...path: string[]): string => readFileSync(inRepository(...path), 'utf8')

let directory: string

beforeAll(() => {
  directory = mkdtempSync(join(tmpdir(), 'tracking-sync-deployment-'))
})

afterAll(async () => {
  await endPrograms()
  rmSync(directory, { recursive: true, force: true })
})

/** Of the machine; undefined where it is not installed. */
function run(program: string, ...args: string[]): SpawnSyncReturns<string> | undefined {
  const result = spawnSync(program, args, { encoding: 'utf8', cwd: directory })
  return result.error === undefined ? result : undefined
}

/** By the build and by packing. */
const MADE = /^(?:dist\/|npm-shrinkwrap\.json$)/

describe('the Containerfile', () => {
  const file = read('Containerfile')
  const lines = file.replaceAll(/\\\n\s*/g, '').split('\n')
  const of = (word: string): string[] =>
    lines.filter((line) => line.startsWith(`${word} `)).map((line) => line.slice(word.length + 1))

  it('copies what there is, and what the build needs is not ignored', () => {
    const copied = of('COPY').filter((line) => !line.startsWith('--from='))
    const sources = copied.flatMap((line) => line.split(' ').slice(0, -1))
    expect(sources.length).toBeGreaterThan(10)
    const letIn = read('.containerignore').split('\n')
    for (const source of sources) {
      const name = source.replace('./', '')
      expect([name, existsSync(inRepository(name))]).toEqual([name, true])
      expect(letIn).toContain(`!${name}`)
    }
    const { files } = JSON.parse(read('package.json')) as { files: readonly string[] }
    for (const packed of files.filter((path) => !MADE.test(path))) {
      expect(sources).toContain(packed.split('/')[0])
    }
    for (const secret of ['.env', '.tracking-sync']) expect(letIn).not.toContain(`!${secret}`)
  })

  it('ends in an image of two stages, without root, in which signals reach the program', () => {
    expect(of('FROM')).toEqual(['${NODE_IMAGE} AS build', '${NODE_IMAGE}'])
    const last = lines.slice(lines.lastIndexOf('FROM ${NODE_IMAGE}'))
    expect(last).toContain('USER node')
    expect(last.filter((line) => /^(?:RUN|ADD) /.test(line))).toEqual([])
    // A form without brackets would put a shell in between, which passes no signal on.
    for (const word of ['ENTRYPOINT', 'CMD']) {
      expect(JSON.parse(of(word).at(-1)!)).toEqual(expect.any(Array))
    }
  })

  it('has a health check that works, and starts a file that there is', async () => {
    const [, json] = /CMD (\[.*\])$/.exec(of('HEALTHCHECK')[0]!)!
    const [program, ...args] = JSON.parse(json!) as string[]
    const [, ...entry] = JSON.parse(of('ENTRYPOINT')[0]!) as string[]
    expect(entry).toEqual(['/usr/local/lib/node_modules/tracking-sync/bin/tracking-sync.cjs'])
    expect(existsSync(inRepository('bin', 'tracking-sync.cjs'))).toBe(true)
    expect(JSON.parse(of('CMD').at(-1)!)).toEqual(['serve'])
    let status = 200
    const health = createServer((request, response) => {
      response.writeHead(request.url === '/healthz' ? status : 404).end()
    })
    await once(health.listen(0, '127.0.0.1'), 'listening')
    const { port } = health.address() as AddressInfo
    const ask = async (env: Record<string, string>) =>
      (await startProgram(program!, args, { directory, env }).ended).exitCode
    expect([await ask({ PORT: String(port) }), await ask({ PORT: '1' })]).toEqual([0, 1])
    status = 503
    expect(await ask({ PORT: String(port) })).toBe(1)
    health.closeAllConnections()
    health.close()
  })

  it('is what compose.yml builds, with settings that there are', () => {
    const compose = read('compose.yml')
    expect(compose).toContain('dockerfile: Containerfile')
    const password = 'made-for-this'
    const [, url] = /DATABASE_URL: (\S+:\/\/.*)$/m.exec(compose)!
    const [, reader] = /TRACKING_READER_URL: (\S+:\/\/.*)$/m.exec(compose)!
    const [, insecure] = /TRACKING_ALLOW_INSECURE_DATABASE: '(\w+)'/.exec(compose)!
    const env = {
      DATABASE_URL: url!.replace(/\$\{.*?\}/, password),
      TRACKING_READER_URL: reader!.replace(/\$\{.*?\}/, `other-${password}`),
      TRACKING_ALLOW_INSECURE_DATABASE: insecure!,
    }
    const result = spawnSync(process.execPath, [inRepository('bin/tracking-sync.cjs'), 'config'], {
      env: { PATH: process.env.PATH ?? '', ...env },
      cwd: directory,
      encoding: 'utf8',
    })
    expect(result.status).toBe(0)
    expect(result.stdout).toMatch(/postgres:\/\/tracking:\[secret\]@database:5432\/tracking/)
    expect(result.stdout).toMatch(/postgres:\/\/tracking_query:\[secret\]@database:5432\/tracking/)
  })

  it('connects as no superuser, own SQL as a reader', { tags: ['JD1', 'release'] }, async () => {
    const compose = read('compose.yml')
    expect(compose).not.toContain('POSTGRES_USER')
    expect(compose).toContain(
      './config/compose-logins.sql:/docker-entrypoint-initdb.d/logins.sql:ro',
    )
    const own = await openOwnServer()
    const { adminUrl } = await own.start()
    try {
      const run = async (url: string, text: string) => {
        const client = new pg.Client({ connectionString: url })
        await client.connect()
        try {
          return (await client.query<Record<string, unknown>>(text)).rows
        } finally {
          await client.end()
        }
      }
      // The server of the tests has logins of these names, and another superuser.
      const suffix = '_of_compose'
      const statements = read('config', 'compose-logins.sql')
        .replaceAll(/^(?:--|\\).*$/gm, '')
        .replaceAll(/\btracking\b/g, `tracking${suffix}`)
        .replace(":'password'", "'for this test'")
        .replace(/alter role postgres password null;/, '')
      await run(adminUrl, `create database tracking${suffix}`)
      for (const text of statements.split(';').filter((part) => part.trim() !== '')) {
        await run(adminUrl, text)
      }
      const url = new URL(adminUrl)
      url.pathname = `/tracking${suffix}`
      url.username = `tracking${suffix}`
      url.password = 'for this test'
      const reader = new URL(url)
      reader.username = 'compose_query'
      const env = {
        DATABASE_URL: url.href,
        TRACKING_READER_URL: reader.href,
        TRACKING_SCHEMA: 'composed',
      }
      // The first command that writes makes the login.
      const rules = inRepository('config', 'free-time-rules.example.csv')
      const imported = await callProgram(['rules', 'import', rules], { directory, env })
      expect(imported).toMatchObject({ exitCode: 0 })
      const { stdout } = await callProgram(['check'], { directory, env })
      expect(stdout).toMatch(/^ok +database .*, as tracking_of_compose; warning: \w+ owns the/m)
      expect(stdout).toMatch(/^ok +own SQL .* as compose_query, which may read and nothing else$/m)
      expect(stdout).not.toContain('superuser')
      const asked = 'select session_user, count(*) from shipments'
      expect(await callProgram(['query', asked, '--format', 'csv'], { directory, env })).toEqual({
        exitCode: 0,
        stderr: '',
        stdout: 'session_user,count\r\ncompose_query,0\r\n',
      })
    } finally {
      await own.remove()
    }
  })
})

describe('the units for systemd', () => {
  const UNITS = ['tracking-sync.service', 'tracking-sync-run.service', 'tracking-sync-run.timer']

  it('are right, where systemd is there to say so', () => {
    const verified = run(
      'systemd-analyze',
      'verify',
      ...UNITS.map((unit) => inRepository('config', unit)),
    )
    if (verified !== undefined) expect(verified).toMatchObject({ status: 0, stderr: '' })
    for (const unit of UNITS) expect(read('config', unit)).toContain('[Unit]\nDescription=')
  })
})

it('the man page is taken without a warning, where groff or man is there', () => {
  const page = inRepository('man', 'tracking-sync.1')
  for (const [program, ...args] of [
    ['groff', '-ww', '-man', '-Tutf8', page],
    ['man', '--warnings', '--local-file', page],
  ]) {
    const taken = run(program!, ...args)
    if (taken === undefined) continue
    expect([program, taken.stderr]).toEqual([program, ''])
    expect(taken.stdout).toMatch(/move/)
  }
})
