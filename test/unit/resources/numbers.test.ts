import { describe, expect, test } from 'vitest'
import { flattenText } from './flat-rows.js'

/** A JSON number or text as in the body of an answer. */
function stored(json: string, attribute = 'weight_in_lbs') {
  const body = `{"id":"c","type":"container","attributes":{"${attribute}":${json},"new_thing":${json}}}`
  const row = flattenText(body)
  return {
    value: row.columns[attribute],
    reason: row.coercions[attribute]?.reason,
    original: row.coercions[attribute]?.original,
    unmappedText: row.flat.unmapped,
  }
}

describe('decimal fractions', { tags: ['N1'] }, () => {
  test.each([
    ['0.1', '0.1'],
    ['0.30000000000000004', '0.30000000000000004'],
    ['1.005', '1.005'],
    ['850.00', '850'],
    ['1e-7', '1e-7'],
    ['0.0000001', '1e-7'],
    ['25.471353799804547', '25.471353799804547'],
    ['"850.00"', '850.00'],
    ['"53.530404621"', '53.530404621'],
  ])('%s is the numeric %s', (json, value) => {
    expect(stored(json)).toMatchObject({ value, reason: undefined })
  })
})

describe('numbers that a JS number cannot hold', { tags: ['N2'] }, () => {
  test.each([
    '9007199254740993',
    '-9007199254740993',
    '850.000000000000000001',
    '1e400',
    '12345678901234567890.123456789',
  ])('%s keeps every digit, in its column and where there is none', (json) => {
    const { value, reason, unmappedText } = stored(json)
    expect(value).toBe(json)
    expect(reason).toBeUndefined()
    expect(unmappedText).toBe(`{"new_thing":${json}}`)
  })

  test('1e21 is a number that PostgreSQL reads', () => {
    expect(stored('1e21').value).toBe('1e+21')
  })

  test('minus zero is zero', () => {
    expect(stored('-0').value).toBe('0')
  })

  test.each([
    ['1e200000', 'out of range'],
    ['-1e200000', 'out of range'],
    ['1e-200000', 'out of range'],
    ['"1e200000"', 'out of range'],
    [`"${'9'.repeat(1001)}"`, 'not a number'],
  ])('%s becomes null and keeps its digits in coercions', (json, reason) => {
    expect(stored(json)).toMatchObject({ value: null, reason, original: json })
  })

  test.each(['20.00000000000000000001', '1e-400', '39.99999999999999999999999'])(
    '%s is not rounded to a whole number',
    (json) => {
      expect(stored(json, 'equipment_length')).toMatchObject({
        value: null,
        reason: 'not a whole number',
        original: json,
      })
    },
  )
})

describe('texts that are not numbers', { tags: ['N3'] }, () => {
  test.each([
    '"NaN"',
    '"Infinity"',
    '"-Infinity"',
    '"inf"',
    '"0x10"',
    '"1_000"',
    '""',
    '"."',
    '"1."',
    '"+5"',
    '"٤٤"',
    'true',
    '[]',
    '{}',
  ])('%s becomes null and is flagged', (json) => {
    expect(stored(json)).toMatchObject({ value: null, reason: 'not a number', original: json })
  })
})

describe('weights', { tags: ['N5'] }, () => {
  test.each([
    ['44000.0', '44000'],
    ['"4.4e4"', '4.4e4'],
    ['2147483648', '2147483648'],
    ['-5', '-5'],
    ['0', '0'],
  ])('%s is %s', (json, value) => {
    expect(stored(json)).toMatchObject({ value, reason: undefined })
  })

  test('"44,000" becomes null and is flagged: a comma means two things in two countries', () => {
    expect(stored('"44,000"')).toMatchObject({
      value: null,
      reason: 'not a number',
      original: '"44,000"',
    })
  })
})
