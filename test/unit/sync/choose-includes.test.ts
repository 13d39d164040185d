import { expect, test } from 'vitest'
import { documentSchema } from '../../../src/source/jsonapi/schemas.js'
import { isWithheld } from '../../../src/sync/choose-includes.js'

const link = (type: string, id: string) => ({ data: { type, id } })

test('a relation is withheld when records link to it and none of its resources came', () => {
  const document = documentSchema.parse({
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
  })
  const asked = ['containers', 'containers.raw_events', 'pod_terminal', 'destination']
  asked.push('containers.x')
  expect(asked.filter((name) => isWithheld(document, name))).toEqual([
    'containers.raw_events',
    'pod_terminal',
  ])
})
