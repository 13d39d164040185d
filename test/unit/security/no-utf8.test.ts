import fc from 'fast-check'
import { expect, test } from 'vitest'
import { decodeUtf8 } from '../../../src/source/jsonapi/exact-json.js'
import { toStorableText } from '../../../src/source/records/column.js'
import { SEEN } from '../resources/flat-rows.js'
import { flattenAnyRecord } from '../../../src/source/records/index.js'
import { createTestClient, reply, startFakeService } from '../api/fake-service.js'

test('any bytes become the text they are, or one with U+FFFD, flagged', { tags: ['T3'] }, () => {
  const sequences = fc.oneof(
    fc.uint8Array({ maxLength: 12 }),
    fc.constantFrom('a', 'ü', '€', '😀', '\ufffd').map((text) => Buffer.from(text)),
    fc.constantFrom(Buffer.from([0xef]), Buffer.from([0xef, 0xbf])),
  )
  fc.assert(
    fc.property(fc.array(sequences, { maxLength: 6 }), (parts) => {
      const bytes = Buffer.concat(parts)
      const plain = bytes.toString('utf8')
      const isUtf8 = Buffer.from(plain).equals(bytes)
      const { text, isReplaced } = toStorableText(decodeUtf8(bytes).replaceAll('\u0000', '0'))
      expect(text).toBe(plain.replaceAll('\u0000', '0'))
      expect(isReplaced).toBe(!isUtf8)
    }),
    { numRuns: 1_000 },
  )
})

test.each([0, 70_000])('cost no record, but a flag (%d)', { tags: ['T3'] }, async (padding) => {
  const [before, after] = JSON.stringify({
    data: [
      { type: 'container', id: 'one', attributes: { number: 'A<MARK>B', seal_number: 'fine' } },
      { type: 'container', id: 'two', attributes: { number: 'fine' } },
    ],
  }).split('<MARK>')
  const body = Buffer.concat([
    Buffer.from(before!),
    Buffer.from([0xe2, 0x82]),
    Buffer.from(after! + ' '.repeat(padding)),
  ])
  const service = await startFakeService(reply(200, body))
  const client = createTestClient(service.baseUrl)
  try {
    const { document } = await client.get('/containers')
    const [one, two] = document.data.map((record) => flattenAnyRecord(record, SEEN))
    const number = one!.resource.columns.findIndex(({ name }) => name === 'number')
    expect(one!.values[number]).toBe('A\ufffdB')
    expect(JSON.parse(String(one!.coercions))).toMatchObject({
      number: { reason: expect.stringContaining('U+FFFD') as string },
    })
    expect(two!.values[number]).toBe('fine')
    expect(two!.coercions).toBeNull()
  } finally {
    await client.close()
    await service.close()
  }
})
