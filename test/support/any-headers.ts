import fc from 'fast-check'

const ABSURD = [
  '',
  ' \t ',
  '0',
  '-1',
  '1e309',
  '18446744073709551616',
  'Infinity',
  'gzip',
  'gzip, gzip',
  'chunked',
  'identity',
  'text/html',
  'application/json; charset="',
  '; ; =',
  'Fri, 31 Dec 9999 23:59:59 GMT',
  'Mon, 99 Foo -1 25:61:61 GMT',
  'http://[::1',
  '//elsewhere.example/%zz',
  '\u00ff\u00fe',
  '100-continue',
  'timeout=-1, max=1e9',
  'x'.repeat(3_000),
]

const texts = fc.oneof(
  { weight: 9, arbitrary: fc.constantFrom(...ABSURD) },
  { weight: 1, arbitrary: fc.string({ unit: 'binary-ascii', maxLength: 20 }) },
)

/** Lines of a head, each with its end: a few of the names, empty, absurd, or several times. */
export function anyHeaders(names: readonly string[]): fc.Arbitrary<string> {
  const header = fc.tuple(
    fc.constantFrom(...names),
    fc.array(texts, { minLength: 1, maxLength: 2 }),
  )
  return fc
    .array(header, { maxLength: 4 })
    .map((chosen) =>
      chosen.flatMap(([name, values]) => values.map((value) => `${name}: ${value}\r\n`)).join(''),
    )
}
