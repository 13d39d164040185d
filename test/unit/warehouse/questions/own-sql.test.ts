import { describe, expect, it } from 'vitest'
import { wordsOf } from '../../../../src/warehouse/questions/own-sql.js'

describe('the words of a statement of one’s own', () => {
  it.each([
    ['select pg_sleep(1)', ['pg_sleep']],
    ['select PG_Sleep (1), "Odd""Name"(2)', ['pg_sleep', 'Odd"Name']],
    ['select pg_catalog . pg_sleep /* a /* b */ c */ -- d\n (1)', ['pg_sleep']],
    [`select 'f(1)', e'g(1)\\\\', $$h(1)$$, $a$ $$i(1) $a$, "j(1)", 'it''s k(1)'`, []],
    [`select 'a' 'b', l('c''d')`, ['l']],
    ['select a-- m(1)\nfrom b', []],
    ['select n$o(1), ünder_(2)', ['n$o', 'ünder_']],
    ['with x as (select 1) select (y.z).w, 1e5, $1 from x', ['as', 'select']],
    ['select "unfinished(1)', ['unfinished']],
    ['select /* unfinished(1)', []],
  ])('%s', { tags: ['FC2'] }, (text, called) => {
    expect(wordsOf(text).called).toEqual(called)
  })

  it.each([
    ['-- why\n /* not */ SELECT 1', 'select'],
    ['(select 1)', '('],
    ['copy x to stdout', 'copy'],
    ['"select" 1', '"select"'],
    ['  ', ''],
  ])('begin with the first one: %s', { tags: ['FC2'] }, (text, first) => {
    expect(wordsOf(text).first).toBe(first)
  })

  it('are not hidden by escapes', { tags: ['FC2'] }, () => {
    expect(() => wordsOf('select U&"\\0070g_sleep"(1)')).toThrow('U&')
  })
})
