import { spawnSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { callProgram } from '../support/call-cli.js'
import { selectRows } from '../support/look-at-cli-rows.js'
import { openOwnServer } from '../support/own-server.js'
import { endPrograms, repositoryDirectory, startProgram } from '../support/run-cli.js'
import { useFolder } from '../support/temp-folder.js'
import { listen, stop } from '../unit/api/fake-service.js'

const inRepository = (...path: string[]): string => join(repositoryDirectory, ...path)
const read = (...path: string[]): string => readFileSync(inRepository(...path), 'utf8')

const folder = useFolder('file')

afterAll(endPrograms)

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

  it('has a health check that works, and starts a file that there is', async () => {
    const [, json] = /CMD (\[.*\])$/.exec(of('HEALTHCHECK')[0]!)!
    const [program, ...args] = JSON.parse(json!) as string[]
    // A form without brackets would put a shell in between, which passes no signal on.
    const [, ...entry] = JSON.parse(of('ENTRYPOINT')[0]!) as string[]
    expect(lines.slice(lines.lastIndexOf('FROM ${NODE_IMAGE}'))).toContain('USER node')
    expect(entry).toEqual(['/usr/local/lib/node_modules/tracking-sync/bin/tracking-sync.cjs'])
    expect(existsSync(inRepository('bin', 'tracking-sync.cjs'))).toBe(true)
    expect(JSON.parse(of('CMD').at(-1)!)).toEqual(['serve'])
    let status = 200
    const health = createServer((request, response) => {
      response.writeHead(request.url === '/healthz' ? status : 404).end()
    })
    const { port } = new URL(await listen(health))
    const ask = async (env: Record<string, string>) =>
      (await startProgram(program!, args, { directory: folder.path, env }).ended).exitCode
    expect([await ask({ PORT: port }), await ask({ PORT: '1' })]).toEqual([0, 1])
    status = 503
    expect(await ask({ PORT: port })).toBe(1)
    await stop(health)
  })

  it('is what compose.yml builds, with settings that there are', async () => {
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
    const { exitCode, stdout } = await callProgram(['config'], { directory: folder.path, env })
    expect(exitCode).toBe(0)
    expect(stdout).toMatch(/postgres:\/\/tracking:\[secret\]@database:5432\/tracking/)
    expect(stdout).toMatch(/postgres:\/\/tracking_query:\[secret\]@database:5432\/tracking/)
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
      // The server of the tests has logins of these names, and another superuser.
      const suffix = '_of_compose'
      const statements = read('config', 'compose-logins.sql')
        .replaceAll(/^(?:--|\\).*$/gm, '')
        .replaceAll(/\btracking\b/g, `tracking${suffix}`)
        .replace(":'password'", "'for this test'")
        .replace(/alter role postgres password null;/, '')
      await selectRows(adminUrl, `create database tracking${suffix}`)
      for (const text of statements.split(';').filter((part) => part.trim() !== '')) {
        await selectRows(adminUrl, text)
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
      const options = { directory: folder.path, env }
      const imported = await callProgram(['rules', 'import', rules], options)
      expect(imported).toMatchObject({ exitCode: 0 })
      const { stdout } = await callProgram(['check'], options)
      expect(stdout).toMatch(/^ok +database .*, as tracking_of_compose; warning: \w+ owns the/m)
      expect(stdout).toMatch(/^ok +own SQL .* as compose_query, which may read and nothing else$/m)
      expect(stdout).not.toContain('superuser')
      const asked = 'select session_user, count(*) from shipments'
      expect(await callProgram(['query', asked, '--format', 'csv'], options)).toEqual({
        exitCode: 0,
        stderr: '',
        stdout: 'session_user,count\r\ncompose_query,0\r\n',
      })
    } finally {
      await own.remove()
    }
  })
})

it('units and man page are right, where systemd and groff are there to say so', () => {
  const units = ['tracking-sync.service', 'tracking-sync-run.service', 'tracking-sync-run.timer']
  const paths = units.map((unit) => inRepository('config', unit))
  for (const unit of units) expect(read('config', unit)).toContain('[Unit]\nDescription=')
  for (const [program, ...args] of [
    ['systemd-analyze', 'verify', ...paths],
    ['groff', '-ww', '-man', '-Tutf8', inRepository('man', 'tracking-sync.1')],
  ]) {
    const { error, status, stderr } = spawnSync(program!, args, { encoding: 'utf8' })
    if (error === undefined) expect([program, status, stderr]).toEqual([program, 0, ''])
  }
})
