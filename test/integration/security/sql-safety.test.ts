import fc from 'fast-check'
import pg from 'pg'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { noFailpoints } from '../../../src/base/failpoint.js'
import type { ResourceObject } from '../../../src/source/jsonapi/document.js'
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
  await warehouse.transaction('write', (session) =>
    writeRows(
      session,
      {
        syncRunId: null,
        mode: 'sync',
        sightings: all,
        withoutRow: new Set(areCopied ? all : []),
        eventLists: [],
      },
      noFailpoints,
    ),
  )
}

describe('any text from outside', { tags: ['S7'] }, () => {
  it('is stored as it is, in a row each, as value, in a list and as name', async () => {
    const count = () => scene.value<number>`select count(*) from tracking.containers`
    const before = await count()
    let written = 0
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.oneof(fc.string({ unit: 'binary' }), fc.constantFrom(...LOADED)), {
          minLength: 50,
          maxLength: 50,
        }),
        async (texts) => {
          const first = written
          written += texts.length
          const records = texts.flatMap((text, index) => {
            const id = `container-${first + index}`
            return [
              {
                type: 'container',
                id,
                attributes: {
                  number: text,
                  ref_numbers: [text, text],
                  [`unknown ${text}`]: text,
                },
              },
              {
                type: 'custom_field',
                id: `field-${first + index}`,
                attributes: { api_slug: slugOf(text, first + index), value: { [text]: text } },
                relationships: { entity: { data: { type: 'container', id } } },
              },
              { type: 'unknown', id: `other-${first + index}`, attributes: { [text]: text } },
            ]
          })
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
              return {
                number: text,
                ref_numbers: [text, text],
                slug: slugOf(sent, first + index),
              }
            }),
          )
        },
      ),
      { numRuns: Math.ceil(TEXTS / 50), endOnFailure: true },
    )
    expect((await count()) - before).toBe(written)
  })
})

describe('the text of a statement', { tags: ['S6', 'S8'] }, () => {
  const MARK = 'cnry7f'

  it('holds no value, key, type or path of the source, in a sync and in webhooks', async () => {
    const statements: string[] = []
    const spy = vi.spyOn(pg.Client.prototype, 'query')
    const isRecord = (value: unknown): value is ResourceObject =>
      typeof value === 'object' && value !== null && 'type' in value
    /** Marked names and values beside what there is. */
    const marked = (record: unknown): unknown =>
      isRecord(record)
        ? {
            ...record,
            attributes: {
              ...record.attributes,
              [`${MARK}_name`]: `${MARK}_value`,
              [`${MARK}"; select 1; --`]: { [`${MARK}_deep`]: [`${MARK}'`] },
              ref_numbers: [`${MARK}_reference`],
            },
          }
        : record
    const other = { type: `${MARK}_type`, id: `${MARK}_id`, attributes: { name: MARK } }
    scene.simulator.faults.add({
      fault: {
        kind: 'transform',
        apply: (document) => {
          const { data, included = [] } = document as { data: unknown; included?: unknown[] }
          return {
            ...(document as object),
            data: Array.isArray(data) ? data.map(marked) : marked(data),
            included: [...included.map(marked), other],
          }
        },
      },
      match: () => true,
      times: Infinity,
    })
    try {
      scene.advance(60)
      await scene.sync({ command: 'sync' })
      scene.advance(60)
      const id = scene.containerId
      await scene.receive(
        scene.tell(id, {
          id: `${MARK}_notification`,
          event: `${MARK}.event`,
          included: [marked(scene.containerNow(id)), other],
        }),
      )
      await scene.bench.settle()
      for (const [first] of spy.mock.calls as unknown as [unknown][]) {
        statements.push(
          typeof first === 'string' ? first : ((first as { text?: string }).text ?? ''),
        )
      }
    } finally {
      spy.mockRestore()
      scene.simulator.faults.clear()
    }
    expect(statements.length).toBeGreaterThan(50)
    expect(statements.filter((text) => text.includes(MARK))).toEqual([])
    // It was there to be found.
    const [row] = await scene.query<{ count: number }>(
      `select count(*) as count from tracking.containers
        where to_jsonb(containers)::text like '%${MARK}_value%'`,
    )
    expect(row?.count).toBeGreaterThan(0)
  })
})
