import { describe, expect, it } from 'vitest'
import {
  chooseAccount,
  mayAccess,
  refuseRootOwner,
} from '../../../src/extensions/embedded-postgres/area.js'

const ROOT = 'root:x:0:0:root:/root:/bin/bash'
const NOBODY = 'nobody:x:65534:65534:nobody:/nonexistent:/usr/sbin/nologin'
const POSTGRES = 'postgres:x:101:104:PostgreSQL administrator,,,:/var/lib/postgresql:/bin/bash'

describe('the account that runs PostgreSQL for root', () => {
  const postgres = { name: 'postgres', uid: 101, gid: 104 }
  it.each([
    ['postgres when there is one, at any line', [ROOT, NOBODY, POSTGRES, ''], postgres],
    ['nobody otherwise', [ROOT, NOBODY], { name: 'nobody', uid: 65_534, gid: 65_534 }],
    ['none where there is no line', [''], undefined],
    ['never root under its name', ['postgres:x:0:0::/:/bin/sh'], undefined],
    ['none of lines that cannot be read', ['nobody:x::', '+::::::', 'nobody'], undefined],
  ])('is %s', (_what, lines, account) => {
    expect(chooseAccount(lines.join('\n'))).toEqual(account)
  })

  it('is told to own the data again where a copy gave them to root', () => {
    refuseRootOwner(101, '/home/data')
    expect(() => {
      refuseRootOwner(0, '/home/data')
    }).toThrow(/^The data in \/home\/data belong to root, .* `chown -R postgres: \/home\/data`\.$/)
  })
})

describe('access by mode bits', () => {
  const account = { name: 'postgres', uid: 101, gid: 104 }

  it.each([
    ['owner', { mode: 0o700, uid: 101, gid: 0 }, true],
    ['owner without the right, though others have it', { mode: 0o077, uid: 101, gid: 0 }, false],
    ['group', { mode: 0o050, uid: 0, gid: 104 }, true],
    ['group without the right, though others have it', { mode: 0o705, uid: 0, gid: 104 }, false],
    ['others', { mode: 0o705, uid: 0, gid: 0 }, true],
    ['others without the right', { mode: 0o770, uid: 0, gid: 0 }, false],
  ])('is decided by the first class that fits: %s', (_case, file, isAllowed) => {
    expect(mayAccess(file, account, 'enter')).toBe(isAllowed)
    expect(mayAccess(file, account, 'read')).toBe(isAllowed)
  })

  it('tells entering a directory from reading it', () => {
    const file = { mode: 0o711, uid: 0, gid: 0 }
    expect(mayAccess(file, account, 'enter')).toBe(true)
    expect(mayAccess(file, account, 'read')).toBe(false)
  })
})
