import { readdirSync } from 'node:fs'
import { chmod, mkdir, readdir, readFile, stat, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { beforeEach, expect, it } from 'vitest'
import type { CommandIo } from '../../../../src/commands/command-io.js'
import { findAnswerFile, putAnswer } from '../../../../src/extensions/answers/output/answer-file.js'
import type { AnswerFormat } from '../../../../src/extensions/answers/output/print-answer.js'
import type { TableAnswer } from '../../../../src/extensions/answers/read-answer.js'
import { useFolder } from '../../../support/temp-folder.js'

const own = useFolder()
let folder: string
let notes: string[]
let stop: AbortController

beforeEach(() => {
  folder = own.path
  notes = []
  stop = new AbortController()
})

const PIECE: TableAnswer = { columns: ['n'], types: [23], rows: [[1], [2]] }

async function write(
  name: string,
  pieces: AsyncIterable<TableAnswer>,
  format: AnswerFormat = 'csv',
): Promise<number> {
  // Of the command only what is used beside a file.
  const io = { printNote: (text: string) => notes.push(text) } as unknown as CommandIo
  const file = await findAnswerFile(name, folder)
  return putAnswer(io, pieces, { format, file, signal: stop.signal }, {})
}

type Step = () => void

const nothing: Step = () => undefined

/** Two pieces; the steps are taken after the first and after the second. */
// eslint-disable-next-line @typescript-eslint/require-await -- what is streamed is asynchronous
async function* answer(between = nothing, last = nothing): AsyncGenerator<TableAnswer> {
  yield PIECE
  between()
  yield PIECE
  last()
}

it('writes the whole file, and says how many rows are where', async () => {
  expect(await write('days.csv', answer())).toBe(4)
  expect(await readFile(join(folder, 'days.csv'), 'utf8')).toBe('n\r\n1\r\n2\r\n1\r\n2\r\n')
  await write('days.xlsx', answer(), 'ndjson')
  expect(notes).toEqual([
    'wrote 4 rows to days.csv',
    'wrote 4 rows to days.xlsx',
    'days.xlsx is named like xlsx and holds ndjson; add --format xlsx',
  ])
  expect((await readdir(folder)).sort()).toEqual(['days.csv', 'days.xlsx'])
})

const fail: Step = () => {
  throw new Error('division by zero')
}
const interrupt: Step = () => {
  stop.abort('SIGINT')
}

it.each([
  ['the answer fails', fail, fail],
  ['a signal comes, without reading on', interrupt, fail],
  ['a signal comes behind the last row', nothing, interrupt],
])('leaves what was there, and nothing beside it, when %s', async (_, between, last) => {
  await writeFile(join(folder, 'old.csv'), 'old')
  for (const name of ['old.csv', 'new.csv']) {
    stop = new AbortController()
    const written = write(name, answer(between, last))
    if (between === fail) await expect(written).rejects.toThrow('division by zero')
    else await expect(written).rejects.toBe('SIGINT')
  }
  expect(await readdir(folder)).toEqual(['old.csv'])
  expect(await readFile(join(folder, 'old.csv'), 'utf8')).toBe('old')
  expect(notes).toEqual([])
})

it('leaves nothing where the program ends at once, as by a second signal', async () => {
  const listeners = process.listeners('exit')
  const end: Step = () => {
    expect(readdirSync(folder)).toHaveLength(1)
    for (const one of process.listeners('exit')) if (!listeners.includes(one)) one(130)
    expect(readdirSync(folder)).toEqual([])
    interrupt()
  }
  await expect(write('days.csv', answer(end))).rejects.toBe('SIGINT')
  expect(process.listeners('exit')).toEqual(listeners)
})

it('replaces the file behind a link, and keeps its rights', async () => {
  await writeFile(join(folder, 'old.csv'), 'old')
  await chmod(join(folder, 'old.csv'), 0o600)
  await symlink('old.csv', join(folder, 'link.csv'))
  await write('link.csv', answer())
  expect(await readFile(join(folder, 'old.csv'), 'utf8')).toContain('n\r\n1')
  expect((await stat(join(folder, 'old.csv'))).mode & 0o777).toBe(0o600)
})

it('names what cannot be written, and makes no folder', async () => {
  await mkdir(join(folder, 'reports'))
  await writeFile(join(folder, 'file'), '')
  for (const [name, problem] of [
    ['none/days.csv', 'is in a folder that does not exist; make that first'],
    ['reports', 'is a folder; name a file in it'],
    ['new/', 'is a folder; name a file in it'],
    ['file/days.csv', 'cannot be used (ENOTDIR); name another file'],
    ['/dev/null', 'is not a file; name one, or leave --out away for standard output'],
  ] as const) {
    await expect(write(name, answer())).rejects.toThrow(`--out ${name} ${problem}`)
  }
  expect((await readdir(folder)).sort()).toEqual(['file', 'reports'])
})
