import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { PassThrough } from 'node:stream'
import { expect, test } from 'vitest'
import { runCli } from '../../../src/commands/program.js'

const KEY = 'canary/key+9f3a='

test('a fault while the program loads is told without the key', { tags: ['S1'] }, async () => {
  const directory = await mkdtemp(join(tmpdir(), 'tracking-sync-crash-'))
  await writeFile(join(directory, '.env'), `TRACKING_API_KEY=${KEY}\n`)
  const stream = () => Object.assign(new PassThrough(), { isTTY: false }) as unknown
  const stderr = stream() as NodeJS.WriteStream & PassThrough
  const exits: number[] = []
  let fault: (() => void) | undefined
  try {
    await runCli(['node', 'tracking-sync', 'config'], {
      stdout: stream() as NodeJS.WriteStream,
      stderr,
      // Asked for when the settings are read; what needs them is loaded later.
      cwd: () => {
        queueMicrotask(() => fault?.())
        return directory
      },
      exit: ((code: number) => exits.push(code)) as unknown as (code: number) => never,
      on: (event: string, listener: (thrown: never) => void) => {
        if (event !== 'uncaughtException') return
        fault = () => {
          fault = undefined
          listener(new Error(`with ${KEY}`) as never)
        }
      },
      off: () => undefined,
    })
  } finally {
    await rm(directory, { recursive: true, force: true })
  }
  expect(exits).toEqual([1])
  const text = String(stderr.read())
  expect(text).toContain('error: a fault of the program: Error: with ')
  expect(text).not.toContain(KEY)
})
