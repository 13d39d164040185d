import { expect, it } from 'vitest'
import { CommandIo, type ProcessLike } from '../../../src/commands/command-io.js'
import type { StopSignal } from '../../../src/base/exit-code.js'
import { createSink } from '../../support/sink.js'

/** A process that is signalled by calling what listens. */
function createFake() {
  const listeners = new Map<string, (signal: StopSignal) => void>()
  const exits: number[] = []
  const stderr = createSink(false)
  const fake = {
    stdout: createSink(false).stream,
    stderr: stderr.stream,
    env: {},
    cwd: () => '/',
    exit: (code: number) => {
      exits.push(code)
    },
    on: (event: string, listener: (signal: StopSignal) => void) => listeners.set(event, listener),
    off: (event: string) => listeners.delete(event),
  }
  return { process: fake as unknown as ProcessLike, listeners, exits, stderr }
}

const CHOICE = { needsAccount: false, hasAll: false, isForAll: false }

it.each([
  ['SIGTERM', 143],
  ['SIGINT', 130],
  ['SIGHUP', 129],
] as const)('%s asks for an end, with %i', { tags: ['X1', 'X2'] }, async (signal, exitCode) => {
  const { process, listeners, exits, stderr } = createFake()
  const io = new CommandIo(process, [])
  let isAsked = false
  await io.withApp(
    {},
    async ({ signal: stop }) => {
      const asked = new Promise((resolve) => {
        stop.addEventListener('abort', resolve)
      })
      listeners.get(signal)?.(signal)
      await asked
      isAsked = true
      expect(exits).toEqual([])
      listeners.get(signal)?.(signal)
      stop.throwIfAborted()
      return undefined
    },
    CHOICE,
  )
  expect({ isAsked, exits, exitCode: io.exitCode }).toEqual({
    isAsked: true,
    exits: [exitCode],
    exitCode,
  })
  expect(stderr.text()).toBe(`stopped by ${signal}\n`)
  expect([...listeners.keys()]).toEqual([])
})
