import { readdir, utimes, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterEach, describe, expect, it } from 'vitest'
import { withStartLock } from '../../../src/extensions/embedded-postgres/start-lock.js'
import { cleanUp, makeDirectory } from './embedded-homes.js'

afterEach(cleanUp)

describe('the start lock', () => {
  it('is free again after a failure inside', async () => {
    const directory = await makeDirectory()
    const failing = withStartLock(directory, () => Promise.reject(new Error('inside')))
    await expect(failing).rejects.toThrow('inside')
    expect(await withStartLock(directory, () => Promise.resolve('in'))).toBe('in')
  })

  it('is taken over from a dead holder by one of several at once', async () => {
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

  it('is taken over when its holder was killed before it wrote its name', async () => {
    const directory = await makeDirectory()
    const path = join(directory, 'lock.1')
    await writeFile(path, '')
    const before = new Date(Date.now() - 60_000)
    await utimes(path, before, before)
    expect(await withStartLock(directory, () => Promise.resolve('in'))).toBe('in')
  })
})
