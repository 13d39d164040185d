import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { callCli, refusalOf, type CliCall } from '../../support/call-cli.js'
import { useTestWarehouse } from '../../support/reused-warehouse.js'
import { readerSettings } from '../../support/test-database.js'

const opened = useTestWarehouse()
let zone: string | undefined

beforeAll(() => {
  // An instant of this process is another day in UTC.
  zone = process.env.TZ
  process.env.TZ = 'Asia/Tokyo'
})
afterAll(() => {
  process.env.TZ = zone
  if (zone === undefined) delete process.env.TZ
})

const query = (...args: string[]): Promise<CliCall> =>
  callCli(['query', ...args], {
    DATABASE_URL: opened.url,
    ...readerSettings(opened.url),
    TRACKING_LOG_LEVEL: 'silent',
  })

/**
 * Of each type a value that a parser of the driver would change, or that needs quotes in a list: by
 * kind, several a line.
 */
const VALUES = String.raw`
  true ; int2 '-7' ; 2147483647 ; int8 '9223372036854775807' ; oid '4294967295'
  float4 '0.1' ; float8 '1e300' ; float8 'NaN' ; money '12.50'
  numeric '12345678901234567890.1234567890' ; numeric 'NaN'
  text 'a,"b"\ {c} NULL' ; text '' ; text 'NULL' ; varchar(9) 'x y' ; char(4) 'abcd' ; name 'n'
  "char" 'c' ; bytea '\x00ff5c' ; bit(3) '101' ; varbit '1011'
  date '2026-11-02' ; date 'infinity' ; time '10:00:00.123456' ; timetz '10:00:00.123456+09'
  timestamp '2026-11-02 10:00:00.123456' ; timestamptz '2026-11-02 10:00:00.123456+09'
  interval '1 mon 2 days 03:04:05.678901'
  json '{"a":  12345678901234567890.10, "b": [1e400]}' ; jsonb '{"a": 12345678901234567890.10}'
  jsonb 'null' ; uuid 'a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11' ; xml '<a b="c"/>' ; jsonpath '$."a b"'
  inet '192.168.0.1/24' ; cidr '192.168.0.0/24' ; macaddr '08:00:2b:01:02:03'
  macaddr8 '08:00:2b:01:02:03:04:05'
  point '(1,2)' ; line '{1,2,3}' ; lseg '[(1,2),(3,4)]' ; box '(3,4),(1,2)' ; path '[(1,2),(3,4)]'
  polygon '((1,2),(3,4))' ; circle '<(1,2),3>'
  int4range '[1,5)' ; int8range '[1,)' ; numrange '[1.50,2.5)' ; daterange '[2026-11-02,2026-11-05)'
  tsrange '["2026-11-02 10:00:00.123456",)' ; tstzrange '["2026-11-02 10:00:00.123456+09",)'
  int4multirange '{[1,5),[7,9)}' ; int8multirange '{[1,5)}' ; nummultirange '{[1.50,2.5)}'
  datemultirange '{[2026-11-02,2026-11-05)}' ; tsmultirange '{["2026-11-02 10:00",)}'
  tstzmultirange '{["2026-11-02 10:00+09",)}'
  tsvector '''a b'':1 c:2' ; tsquery '''a b'' & c'
  xid '7' ; cid '7' ; tid '(1,2)' ; xid8 '7' ; pg_lsn '16/B374D848' ; pg_snapshot '10:20:10,14'
  txid_snapshot '10:20:10,14' ; refcursor 'r' ; int2vector '1 2' ; oidvector '1 2'
  regproc '0' ; regprocedure '0' ; regoper '0' ; regoperator '0' ; regclass '0' ; regcollation '0'
  regtype '0' ; regrole '0' ; regnamespace '0' ; regconfig '0' ; regdictionary '0'
  row(1, 'a b', date '2026-11-02') ; null::date`
const values = VALUES.split(/\n| ; /)
  .map((value) => value.trim())
  .filter((value) => value !== '')

/** One statement: each value and its array beside the texts that PostgreSQL makes of them. */
const question = `select ${values
  .map(
    (_, at) =>
      `x${at} as v${at}, array[x${at}, null, x${at}] as a${at}, x${at}::text as t${at}, array[x${at}, null, x${at}]::text as u${at}`,
  )
  .join(',\n')}
  from (select ${values.map((value, at) => `${value} as x${at}`).join(',\n')}) as one`

const NUMBERS = /^(?:int[248]?|oid|float[48]) |^\d+$/
const DOCUMENTS = /^jsonb? /

describe('own SQL answers as PostgreSQL writes it', { tags: ['JB3'] }, () => {
  it('and in JSON, where the type decides what is a number', async () => {
    const { stdout } = await query(question, '--format', 'ndjson')
    const row = JSON.parse(stdout) as Record<string, unknown>
    for (const [at, value] of values.entries()) {
      const text = row[`t${at}`] as string | null
      const [one, list] = [row[`v${at}`], row[`a${at}`]]
      const isNumber = NUMBERS.test(value) && !value.includes('NaN')
      const json =
        text === null
          ? null
          : isNumber || DOCUMENTS.test(value) || value === 'true'
            ? (JSON.parse(text) as unknown)
            : text
      expect({ value, one }).toEqual({ value, one: json })
      // `box` separates its elements otherwise and stays a text, as do vectors.
      const isText = value.startsWith('box ')
      expect({ value, list }).toEqual({ value, list: isText ? row[`u${at}`] : [json, null, json] })
      if (isNumber || DOCUMENTS.test(value)) {
        expect(stdout).toContain(`"v${at}":${text!},"a${at}":[${text!},null,${text!}]`)
      }
    }
  })

  it('also lists of lists, of other bounds, and none', async () => {
    const { stdout } = await query(
      `select array[[1,2],[3,null]] as a, '[0:1]={1,2}'::int[] as b, '{}'::date[] as c,
          array[date '2026-11-02', null] as d, E'{"a":\\n1}'::json as e`,
      '--format',
      'ndjson',
    )
    expect(stdout).toBe(
      '{"a":[[1,2],[3,null]],"b":[1,2],"c":[],"d":["2026-11-02",null],"e":{"a": 1}}\n',
    )
  })
})

it('columns of one name are both in rows, and refused in JSON', { tags: ['JB3'] }, async () => {
  const twice = `select 'one' as created_at, 'two' as created_at`
  const csv = { stdout: 'created_at,created_at\r\none,two\r\n' }
  expect(await query(twice, '--format', 'csv')).toMatchObject(csv)
  expect((await query(twice, '--format', 'table')).stdout).toMatch(/^one +two$/m)
  expect(await refusalOf(query(twice, '--format', 'ndjson'))).toMatch(
    /^2 error: --format json needs unique column names, .* created_at; give/,
  )
})
