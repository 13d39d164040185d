import { readdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterEach, expect, it } from 'vitest'
import { withStartLock } from '../../../src/extensions/embedded-postgres/start-lock.js'
import { cleanUp, makeDirectory } from './embedded-homes.js'

afterEach(cleanUp)

it('the start lock is taken over from a dead holder by one of several at once', async () => {
  const directory = await makeDirectory()
  // The pid of a living process with another start time: a pid that was used again.
  await writeFile(join(directory, 'lock.7'), `${process.pid} 1\n`)
  let inside = 0
  const hold = () =>
    withStartLock(directory, async () => {
      inside += 1
      expect(inside).toBe(1)
      await readdir(directory)
      inside -= 1
    })
  await Promise.all(Array.from({ length: 8 }, hold))
  expect(await readdir(directory)).toEqual(['lock.15'])
})
