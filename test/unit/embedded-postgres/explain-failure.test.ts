import { describe, expect, it } from 'vitest'
import {
  explainFileError,
  explainProgramFailure,
  recognizeFailure,
} from '../../../src/extensions/embedded-postgres/explain-failure.js'
import { EmbeddedDatabaseError } from '../../../src/base/errors.js'

describe('what PostgreSQL says when it fails', () => {
  it.each([
    ['port_taken', 'LOG:  could not bind IPv4 address "127.0.0.1": Address already in use'],
    ['old_processes', 'FATAL:  pre-existing shared memory block (key 1, ID 2) is still in use'],
    [
      'shared_memory',
      'ERROR:  could not resize shared memory segment "/PostgreSQL.1" to 4 bytes: No space left on device',
    ],
    ['disk_full', 'PANIC:  could not write to file "pg_wal/xlogtemp.1": No space left on device'],
    ['disk_full', 'initdb: error: could not create directory: Disk quota exceeded'],
    ['read_only', 'FATAL:  could not open file "postmaster.pid": Read-only file system'],
    [undefined, 'FATAL:  something new'],
  ])('is recognized as %s', (failure, output) => {
    expect(recognizeFailure(output)).toBe(failure)
  })

  it('is told with the last fatal line, the log and a way out', () => {
    const output = 'LOG:  starting\nFATAL:  the data are odd\nLOG:  database system is shut down\n'
    const { message } = explainProgramFailure('start', output, '/home/db', '/home/db/server.log')
    expect(message).toContain('could not start: FATAL:  the data are odd.')
    expect(message).toContain('/home/db/server.log')
    expect(message).toContain('DATABASE_URL')
  })
})

describe('what the file system says', () => {
  const fail = (code: string) =>
    explainFileError(Object.assign(new Error(code), { code, path: '/home/db/lock.1' }), '/home/db')

  it.each([
    ['EACCES', /write to \/home\/db\/lock\.1.*TRACKING_HOME/],
    ['EROFS', /disk that holds \/home\/db is read-only/],
    ['ENOSPC', /\/home\/db is full; .* move \/home to another disk and set/],
    ['ENOTDIR', /a file is in its way/],
  ])('is told with a fix: %s', (code, message) => {
    const error = fail(code)
    expect(error).toBeInstanceOf(EmbeddedDatabaseError)
    expect((error as Error).message).toMatch(message)
  })
})
