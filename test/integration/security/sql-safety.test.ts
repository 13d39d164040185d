import fc from 'fast-check'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { noFailpoints } from '../../../src/base/failpoint.js'
import { toStorableText } from '../../../src/source/records/column.js'
import { readRecords } from '../../../src/ingest/intake.js'
import { writeRows } from '../../../src/warehouse/rows/write-rows.js'
import {
  closeWebhookScenes,
  openWebhookScene,
  type WebhookScene,
} from '../webhooks/webhook-scene.js'
import { atScale } from '../../support/test-scale.js'

/** Texts written. */
const TEXTS = atScale(100, 10_000)

/** Texts with a meaning in SQL, in its parameters and in output made from rows. */
const LOADED = [
  `'`,
  `"`,
  `\\'; drop schema tracking cascade; --`,
  `'; drop table tracking.containers; --`,
  `") from tracking.ports; --`,
  '$1',
  '$$',
  '{{data}}',
  ':container',
  '%s%n',
  '*/ select 1 /*',
  `{"a":"b`,
  '{a,b}',
  '{"',
  'NULL',
  '\\',
  '\\N',
  '?',
  '\u2028',
  "' or '1'='1",
]

let scene: WebhookScene
beforeAll(async () => {
  scene = await openWebhookScene({ shipments: 3 })
})
afterAll(closeWebhookScenes)

/** A key of a row; one with control characters would be set aside with its record. */
function slugOf(text: string, index: number): string {
  return /[\p{Cc}\p{Surrogate}]/u.test(text) ? `slug ${index}` : `slug ${text}`
}

async function writeRecords(records: readonly unknown[], areCopied: boolean): Promise<void> {
  const { warehouse } = scene
  const observedAt = new Date('2026-03-02T08:00:00Z')
  const { sightings, quarantined } = readRecords(
    { data: [], included: records },
    { stream: 'containers', source: 'test', observedAt, fieldDefinitions: new Map() },
  )
  expect(quarantined).toEqual([])
  const all = [...sightings.values()].flat()
  const rows = { sightings: all, withoutRow: new Set(areCopied ? all : []), eventLists: [] }
  await warehouse.transaction('write', (session) =>
    writeRows(session, { syncRunId: null, mode: 'sync', ...rows }, noFailpoints),
  )
}

/** A text as value, in a list and as name, of a container, a custom field and an unknown record. */
function recordsOf(text: string, at: number): object[] {
  const id = `container-${at}`
  const attributes = { number: text, ref_numbers: [text, text], [`unknown ${text}`]: text }
  const field = { api_slug: slugOf(text, at), value: { [text]: text } }
  const relationships = { entity: { data: { type: 'container', id } } }
  return [
    { type: 'container', id, attributes },
    { type: 'custom_field', id: `field-${at}`, attributes: field, relationships },
    { type: 'unknown', id: `other-${at}`, attributes: { [text]: text } },
  ]
}

const fiftyTexts = fc.array(fc.oneof(fc.string({ unit: 'binary' }), fc.constantFrom(...LOADED)), {
  minLength: 50,
  maxLength: 50,
})

it('any text from outside is stored as it is, in a row each', { tags: ['S7'] }, async () => {
  const count = () => scene.value<number>`select count(*) from tracking.containers`
  const before = await count()
  let written = 0
  const property = fc.asyncProperty(fiftyTexts, async (texts) => {
    const first = written
    written += texts.length
    const records = texts.flatMap((text, index) => recordsOf(text, first + index))
    // In turns: by upsert and by COPY.
    await writeRecords(records, (first / texts.length) % 2 === 1)
    const ids = texts.map((_, index) => `container-${first + index}`)
    const rows = await scene.rows<{ number: string; ref_numbers: string[]; slug: string }>`
      select number, ref_numbers, api_slug as slug
      from tracking.containers
      inner join tracking.custom_fields
          on entity_id = container_id
      where container_id = any(${ids}::text[])
      order by substr(container_id, 11)::integer`
    expect(rows).toEqual(
      texts.map((sent, index) => {
        const { text } = toStorableText(sent)
        return { number: text, ref_numbers: [text, text], slug: slugOf(sent, first + index) }
      }),
    )
  })
  await fc.assert(property, { numRuns: Math.ceil(TEXTS / 50), endOnFailure: true })
  expect((await count()) - before).toBe(written)
})
