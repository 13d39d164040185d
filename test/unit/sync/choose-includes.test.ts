import { expect, test } from 'vitest'
import { rawListSchema } from '../../../src/source/jsonapi/schemas.js'
import { splitJsonBytes } from '../../../src/source/jsonapi/parse-json-bytes.js'
import { isWithheld } from '../../../src/sync/choose-includes.js'

const link = (type: string, id: string) => ({ data: { type, id } })

test('a relation is withheld when records link to it and none of its resources came', () => {
  const page = {
    data: [
      {
        id: '1',
        type: 'shipment',
        relationships: {
          containers: { data: [{ type: 'container', id: 'c' }] },
          pod_terminal: link('terminal', 't'),
          destination: { data: null },
        },
      },
      null,
      7,
    ],
    included: [
      {
        id: 'c',
        type: 'container',
        relationships: { raw_events: { data: [{ type: 'raw_event', id: 'r' }] } },
      },
    ],
  }
  const text = Buffer.from(JSON.stringify(page))
  const document = rawListSchema.parse(splitJsonBytes(text))
  const asked = ['containers', 'containers.raw_events', 'pod_terminal', 'destination']
  asked.push('containers.x')
  expect(asked.filter((name) => isWithheld(document, name))).toEqual([
    'containers.raw_events',
    'pod_terminal',
  ])
})
