import { describe, expect, test } from 'vitest'
import { hash } from 'node:crypto'
import { resources } from '../../../src/source/records/index.js'
import { READING } from '../../../src/source/records/resource.js'
import { readPayloads } from '../../support/read-payloads.js'
import { flatten, type JsonObject } from './flat-rows.js'

const records: readonly JsonObject[] = readPayloads('samples').flatMap(({ data, included }) => [
  ...data,
  ...included,
])

const fingerprintOf = (record: unknown): string => flatten(record).flat.fingerprint

/** Every path to a value of a record, containers of values included. */
function pathsOf(value: unknown, path: readonly string[] = []): string[][] {
  if (typeof value !== 'object' || value === null) return []
  return Object.entries(value).flatMap(([name, member]) => [
    [...path, name],
    ...pathsOf(member, [...path, name]),
  ])
}

/** A copy with one value replaced, or removed where `replacement` is undefined. */
function changed(record: JsonObject, path: readonly string[], replacement: unknown): JsonObject {
  const copy = structuredClone(record) as Record<string, unknown>
  let parent = copy
  for (const name of path.slice(0, -1)) parent = parent[name] as Record<string, unknown>
  const last = path.at(-1) ?? ''
  if (replacement !== undefined) parent[last] = replacement
  else if (Array.isArray(parent)) parent.splice(Number(last), 1)
  else Reflect.deleteProperty(parent, last)
  return copy
}

/** Below attributes, and whole linkages: the id and type of a record are its key. */
const changes = records.flatMap((record) =>
  pathsOf(record)
    .filter(
      ([top, ...rest]) => rest.length > 0 && (top === 'attributes' || top === 'relationships'),
    )
    // Withheld or repeated on purpose.
    .filter(([top, name]) => record.type !== 'webhook' && !(top === 'attributes' && name === 'id'))
    // The container of a transport event is part of its key.
    .filter(([, name]) => record.type !== 'transport_event' || name !== 'container')
    // The raw events of a container are asked for by it.
    .filter(([, name]) => name !== 'raw_events')
    // A relationship without data says nothing, as one that is absent.
    .filter(
      ([top, ...rest]) => top === 'attributes' || rest.at(-1) === 'data' || rest.at(-1) === 'id',
    )
    .map((path) => ({ record, path })),
)

describe('the fingerprint', () => {
  test('differs after any change of any value of the published records, and where one is absent', () => {
    expect(changes.length).toBeGreaterThan(1000)
    for (const { record, path } of changes) {
      const replacements = path.at(-1) === 'id' ? ['changed'] : [{ changed: true }, undefined]
      for (const replacement of replacements) {
        const made = fingerprintOf(changed(record, path, replacement))
        expect(made, path.join('/')).not.toBe(fingerprintOf(record))
      }
    }
  })

  test('differs between null, absent, "", "null", [] and 0', () => {
    const values = [null, '', 'null', [], 0, '0.', false, {}]
    const attributes = [
      'number',
      'weight_in_lbs',
      'ref_numbers',
      'holds_at_pod_terminal',
      'brand_new',
    ]
    for (const attribute of attributes) {
      const prints = values.map((value) =>
        fingerprintOf({ id: 'c', type: 'container', attributes: { [attribute]: value } }),
      )
      prints.push(fingerprintOf({ id: 'c', type: 'container', attributes: {} }))
      expect(new Set(prints).size, attribute).toBe(values.length + 1)
    }
  })
})

/** Of every kind that a column may meet. */
const ODD_VALUES = [
  null,
  '',
  'text',
  ' 2026-02-30',
  7,
  1.5,
  true,
  [],
  ['a', 1],
  {},
  '2026-03-02T08:00',
]

/** A record, and as often with all of its attributes replaced by one odd value. */
function withOddValues(record: JsonObject): JsonObject[] {
  const names = Object.keys(record.attributes ?? {})
  const odd = ODD_VALUES.map((value) => ({
    ...record,
    attributes: Object.fromEntries(names.map((name) => [name, value])),
  }))
  return [record, ...odd]
}

describe('how this version reads records', () => {
  test('is told to rows by a number, which must rise when it changes: what follows is of READING 3', () => {
    const made = records.flatMap(withOddValues).map(fingerprintOf).join('\n')
    // Red after a change of columns alone: put the new hash here. After any other change of
    // flattening raise READING too, and then put it here.
    expect({ READING, made: hash('sha256', made, 'base64url').slice(0, 12) }).toEqual({
      READING: 3,
      made: 'FKmC_dA8y1fH',
    })
  })
})

describe('what marks a change as material', () => {
  test('times of checking, positions of vessels and lists of ids are kept up to date without making a version', () => {
    const immaterial = resources.flatMap(({ stream, columns, keyColumns, idColumn }) => {
      const names = columns.flatMap(({ name, isMaterial }) =>
        isMaterial || keyColumns.includes(name) || name === idColumn ? [] : [name],
      )
      return names.length === 0 ? [] : [`${stream}: ${names.sort().join(' ')}`]
    })
    const requests = 'pod_last_tracking_request_at rail_last_tracking_request_at'
    const values = 'value_boolean value_date value_list value_number value_text value_timestamp'
    const position = 'nautical_speed_knots navigational_heading_degrees position_timestamp'
    expect(immaterial.sort()).toEqual([
      `containers: ${requests} shipment_last_tracking_request_at terminal_checked_at transport_event_ids`,
      `custom_fields: data_type ${values}`,
      'ports: terminal_ids',
      'shipments: container_ids line_tracking_last_attempted_at line_tracking_last_succeeded_at',
      'tracking_requests: retry_count',
      `vessels: latitude longitude ${position}`,
    ])
  })
})
