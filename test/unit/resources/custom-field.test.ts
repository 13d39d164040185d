import { describe, expect, it } from 'vitest'
import { readRecords } from '../../../src/ingest/intake.js'
import { flattenRecord } from '../../../src/source/records/flatten.js'
import { customFields } from '../../../src/source/records/index.js'
import type { FieldDefinition, FieldDefinitions } from '../../../src/source/records/resource.js'

const observedAt = new Date('2026-03-02T08:00:00Z')

function definitions(definition: Partial<FieldDefinition>): FieldDefinitions {
  return new Map([['d-1', { apiSlug: 'slug', dataType: null, isWithheld: false, ...definition }]])
}

function recordOf(value: unknown, definitionId = 'd-1') {
  return {
    id: 'f-1',
    type: 'custom_field',
    attributes: { api_slug: 'slug', value, display_value: 'as shown' },
    relationships: {
      entity: { data: { type: 'container', id: 'c-1' } },
      definition: { data: { type: 'custom_field_definition', id: definitionId } },
    },
  }
}

/** The columns with something in them, but those of the entity, and what was not stored as sent. */
function cast(value: unknown, fieldDefinitions: FieldDefinitions, definitionId?: string) {
  const record = recordOf(value, definitionId)
  const sighting = flattenRecord(customFields, record, {
    observedAt,
    isComplete: true,
    fieldDefinitions,
  })
  const names = ['value', 'display_value', 'data_type']
  const filled = customFields.columns.flatMap(({ name }, place) => {
    const isShown = names.includes(name) || name.startsWith('value_')
    const stored = sighting.values[place] ?? null
    return isShown && stored !== null ? [[name, stored] as const] : []
  })
  const coercions = JSON.parse(sighting.coercions ?? '{}') as Record<string, object>
  return { ...Object.fromEntries(filled), refused: Object.keys(coercions) }
}

/** One of each type, cast: test/fixtures/resources/custom_fields.rows.txt. */
describe('a custom field', { tags: ['JC1'] }, () => {
  it.each([
    ['number', 'a lot', 'value_number'],
    ['date', '31/31/2026', 'value_date'],
    ['datetime', 'yesterday', 'value_timestamp'],
    ['boolean', 'perhaps', 'value_boolean'],
    ['enum_multi', { a: 1 }, 'value_list'],
    ['short_text', { a: 1 }, 'value_text'],
  ])('of the type %s with the value %j keeps it, not cast', (dataType, value, name) => {
    expect(cast(value, definitions({ dataType }))).toEqual({
      value: JSON.stringify(value),
      display_value: 'as shown',
      data_type: dataType,
      refused: [name],
    })
  })

  it.each([
    ['text', { value_text: 'text' }],
    [7, { value_number: '7' }],
    [false, { value_boolean: 'false' }],
    [['a'], { value_list: '{"a"}' }],
    [{ a: 1 }, {}],
  ])('without a known type is cast by what it is: %j', (value, columns) => {
    for (const dataType of [null, 'of_tomorrow']) {
      expect(cast(value, definitions({ dataType }))).toEqual({
        value: JSON.stringify(value),
        display_value: 'as shown',
        refused: [],
        ...(dataType === null ? {} : { data_type: dataType }),
        ...columns,
      })
    }
  })

  it('of a sensitive definition is a row without its value, and says so', () => {
    const withheld = definitions({ dataType: 'number', isWithheld: true })
    const refused = ['value', 'display_value']
    expect(cast(12_345, withheld)).toEqual({ data_type: 'number', refused })
    // Found by its slug where the service does not name the definition.
    expect(cast(12_345, withheld, 'unknown')).toEqual({ data_type: 'number', refused })
  })

  it('of a sensitive definition leaves nothing in the quarantine, or where no list shows it', () => {
    const bad = { ...recordOf(12_345), id: '' }
    const seen = { stream: 'custom_fields', source: '/custom_fields', observedAt }
    const payloadsOf = (fieldDefinitions: FieldDefinitions, record: unknown): string[] =>
      readRecords({ data: [record], included: [] }, { ...seen, fieldDefinitions }).quarantined.map(
        ({ payload }) => payload,
      )
    for (const record of [bad, { type: 'custom_field', attributes: '12345' }, '12345']) {
      const [stored] = payloadsOf(definitions({}), record)
      expect(stored).toContain('12345')
      const [withheld] = payloadsOf(definitions({ isWithheld: true }), record)
      expect(withheld).toMatch(/^"withheld: /)
    }
    const included = readRecords({ data: [], included: [recordOf(12_345)] }, seen)
    expect([...included.sightings]).toEqual([])
    expect(included.quarantined).toEqual([])
  })
})
