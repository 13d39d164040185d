import { describe, expect, it } from 'vitest'
import {
  classifyCommand,
  parsePostmasterPid,
} from '../../../src/extensions/embedded-postgres/processes.js'

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
  const directory = '/srv/my home/database/data'

  it.each([
    ['server', `/opt/bin/postgres -D ${directory} -c config_file=server.conf`],
    ['server', `/opt/my tools/bin/postgres -D ${directory}`],
    ['server', `/opt/bin/postgres -D ${directory}/`],
    ['server', `/opt/bin/postgres -D ${directory}/ -c config_file=server.conf`],
    ['other', '/opt/bin/postgres -D /srv/another/data'],
    ['other', `/opt/bin/postgres -D ${directory}2`],
    ['unknown', '/opt/bin/postgres -D data'],
    ['unknown', 'postgres'],
    ['other', 'postgres: tracking-sync: tracking tracking 127.0.0.1(40000) idle'],
    ['other', '(postgres)'],
    ['other', `node cli.js -D ${directory}`],
    ['other', ''],
  ])('is %s: %s', (kind, command) => {
    expect(classifyCommand(command, directory)).toBe(kind)
  })
})
