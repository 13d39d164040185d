import { describe, expect, it } from 'vitest'
import {
  classifyCommandLine,
  classifyCommandText,
  parsePostmasterPid,
} from '../../../src/embedded-postgres/postmaster-pid.js'

describe('postmaster.pid', () => {
  it('names the process and its port', () => {
    const text = '4107\n/srv/data\n1795253753\n23456\n\n127.0.0.1\n  1234  5\nready   \n'
    expect(parsePostmasterPid(text)).toEqual({ pid: 4107, port: 23456 })
  })

  it('may be read before the server has written its port', () => {
    expect(parsePostmasterPid('4107\n/srv/data\n1795253753\n')).toEqual({
      pid: 4107,
      port: undefined,
    })
  })

  it.each(['', '\n', 'text\n', '-5\n', '0\n', '1\n', '1.5\n'])('names no process in %j', (text) => {
    expect(parsePostmasterPid(text)).toBeUndefined()
  })
})

describe('the command line behind a pid', () => {
  const directory = '/srv/home/database/data'

  it.each([
    ['server', ['/opt/bin/postgres', '-D', directory, '-c', 'config_file=server.conf']],
    ['server', ['/opt/bin/postgres', '-D', `${directory}/`]],
    ['other', ['/opt/bin/postgres', '-D', '/srv/another/data']],
    ['unknown', ['/opt/bin/postgres', '-D', 'data']],
    ['unknown', ['postgres']],
    ['other', ['postgres: tracking-sync: tracking tracking 127.0.0.1(40000) idle']],
    ['other', ['node', 'cli.js', '-D', directory]],
    ['other', ['']],
  ])('is %s: %j', (kind, words) => {
    expect(classifyCommandLine(words, directory)).toBe(kind)
  })

  it.each([
    ['server', `/opt/my tools/bin/postgres -D /srv/my home/data -c config_file=server.conf`],
    ['unknown', '/opt/bin/postgres -D /srv/another/data'],
    ['other', 'postgres: tracking-sync: checkpointer'],
    ['other', '(postgres)'],
    ['other', 'node cli.js -D /srv/my home/data'],
  ])('is %s, as one text: %s', (kind, text) => {
    expect(classifyCommandText(text, '/srv/my home/data')).toBe(kind)
  })
})
