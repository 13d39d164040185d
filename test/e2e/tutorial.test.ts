import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { callProgram } from '../support/call-cli.js'
import { makeFreshHome, removeFreshHomes, type FreshHome } from '../support/fresh-home.js'
import { selectRows } from '../support/look-at-cli-rows.js'
import { repositoryDirectory } from '../support/run-cli.js'
import { startSameWorld } from '../support/simulate-cli.js'
import { createTestDatabase } from '../support/test-database.js'

/** Lines that other tests run: package.test.ts installs, and the directory is that of the test. */
const ELSEWHERE = /^(?:npm (?:ci|run package|install --global)|mkdir|cd) ?/

/** Headings of tables: of all that a page prints, they are equal in every account. */
const HEADING = /^(\S.*)\n(?:-+ *)+$/gm

/** As the simulated service is. */
const UNHURRIED = { TRACKING_RATE_LIMIT_PER_MINUTE: '100000' }

const words = (line: string): string => line.replaceAll(/\s+/g, ' ').trim()

/** The words of a line, of which a quoted one is one. */
const split = (line: string): string[] =>
  [...line.matchAll(/"([^"]*)"|(\S+)/g)].map(([, quoted, plain]) => quoted ?? plain!)

describe('a page for a new user, followed line by line', { tags: ['release'] }, () => {
  const closers: (() => Promise<unknown>)[] = []
  let home: FreshHome
  let url: string
  let answers: Record<string, string>
  let box = { number: '', id: '' }

  beforeAll(async () => {
    home = await makeFreshHome()
    const simulator = await startSameWorld({
      apiKey: 'your-key',
      shipments: 40,
      startAt: new Date(),
    })
    const database = await createTestDatabase()
    closers.push(
      () => simulator.close(),
      () => database.drop(),
    )
    ;({ url } = database)
    answers = { TRACKING_API_URL: simulator.url, TRACKING_API_KEY: 'your-key', DATABASE_URL: url }
  })

  afterAll(async () => {
    for (const close of closers) await close()
    await removeFreshHomes()
  })

  async function run(line: string): Promise<string> {
    const [, ...args] = split(line).map((word) =>
      word
        .replace('MSCU1234567', box.number)
        .replace(/^[\w-]+\.csv$/, (name) => join(home.directory, name))
        .replace(/^<id>$/, box.id),
    )
    // Later commands read what `init` was answered.
    const env = args[0] === 'init' ? answers : UNHURRIED
    const options = { directory: home.directory, env }
    const { exitCode, stdout, stderr } = await callProgram(args, options)
    expect({ line, exitCode, stderr }).toMatchObject({ line, exitCode: 0 })
    return `${stdout}\n${stderr}`
  }

  /** The number of commands that were run, and of headings that they printed as the page does. */
  async function follow(page: string): Promise<{ commands: number; headings: number }> {
    const text = await readFile(join(repositoryDirectory, 'docs', page), 'utf8')
    const blocks = text.matchAll(/([^\n]*)\n+```(\w+)\n([\s\S]*?)\n```/g)
    let [commands, headings, said] = [0, 0, '']
    for (const [, intro = '', language = '', block = ''] of blocks) {
      if (language === 'csv') {
        const [, name = ''] = /`([\w-]+\.csv)`/.exec(text.slice(0, text.indexOf(block))) ?? []
        await writeFile(join(home.directory, name), `${block}\n`)
      } else if (language === 'text') {
        for (const [, heading = ''] of block.matchAll(HEADING)) {
          const printed = [...said.matchAll(HEADING)].map(([, line]) => words(line!))
          // A page may leave the last columns away.
          const isPrinted = printed.some((line) => `${line} `.startsWith(`${words(heading)} `))
          expect({ intro, heading, isPrinted }).toMatchObject({ isPrinted: true })
          headings += 1
        }
      } else {
        expect(['sh', 'crontab']).toContain(language)
        for (const line of block.split('\n')) {
          const program = /(?:^|&& )(tracking-sync [^>]*[^\s>])(?: >> .*)?$/.exec(line)?.[1]
          if (program === undefined) expect(line).toMatch(language === 'sh' ? ELSEWHERE : /^PATH=/)
          else {
            said += await run(program)
            commands += 1
            await learnBox()
          }
        }
      }
    }
    return { commands, headings }
  }

  async function learnBox(): Promise<void> {
    const [row] = await selectRows<typeof box>(
      url,
      `select number, container_id as id from tracking.containers
      where pod_discharged_at is not null order by 2 limit 1`,
    ).catch(() => [])
    if (row !== undefined) box = row
  }

  it('the tutorial leads from a key to a list', async () => {
    expect(await follow('tutorial.md')).toEqual({ commands: 13, headings: 3 })
    const files = ['monday.xlsx', 'last-free-days.ics'].map((name) => join(home.directory, name))
    const [workbook, calendar] = await Promise.all(files.map((file) => readFile(file)))
    expect(workbook!.subarray(0, 2).toString()).toBe('PK')
    expect(calendar!.toString().split('BEGIN:VEVENT').length).toBeGreaterThan(2)
    expect(calendar!.toString()).toContain('https://app.terminal49.com/shipments/find?q=')
  })

  it('each command of the troubleshooting page works', async () => {
    await run('tracking-sync init --service terminal49')
    await run('tracking-sync backfill')
    await learnBox()
    expect(await follow('troubleshooting.md')).toEqual({ commands: 16, headings: 2 })
  })
})
