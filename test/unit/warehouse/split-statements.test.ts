import { readFileSync, readdirSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { splitStatements } from '../../../src/warehouse/schema/run-migrations.js'

describe('splitStatements', () => {
  it.each([
    ['', []],
    [' ;; -- nothing; at all\n', []],
    ['select 1; -- one; two\nselect 2', ['select 1', '-- one; two\nselect 2']],
    [`select 'a;''b;'; select ";"`, [`select 'a;''b;'`, 'select ";"']],
    [
      'do $x$ begin; $$;$$ end $x$; /* ; */ select 1;',
      ['do $x$ begin; $$;$$ end $x$', '/* ; */ select 1'],
    ],
    ['select $1, $2; select 3', ['select $1, $2', 'select 3']],
  ])('splits %j', (text, statements) => {
    expect(splitStatements(text)).toEqual(statements)
  })

  it('loses nothing of what is shipped', () => {
    const folder = new URL('../../../sql/migrations/', import.meta.url)
    for (const name of readdirSync(folder)) {
      const text = readFileSync(new URL(name, folder), 'utf8')
      const bare = (code: string): string => code.replace(/[\s;]/g, '')
      expect(bare(splitStatements(text).join('\n'))).toBe(bare(text))
    }
  })
})
