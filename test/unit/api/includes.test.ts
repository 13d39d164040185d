import { describe, expect, test } from 'vitest'
import { dropRefusedIncludes, checkIncludes } from '../../../src/api/includes.js'
import { ApiRequestError, ApiUnavailableError } from '../../../src/base/errors.js'
import { parseDocument } from '../../../src/jsonapi/document.js'

function refusal(detail: string, status = 400): ApiRequestError {
  return new ApiRequestError('no', { status, context: { errors: [{ title: 'Bad', detail }] } })
}

describe('dropRefusedIncludes', () => {
  test('drops every name that the service complains of', () => {
    const asked = ['containers', 'containers.raw_events', 'pod_terminal']
    const error = refusal('containers.raw_events, pod_terminal are no relations.')
    expect(dropRefusedIncludes(asked, error)).toEqual(['containers'])
  })

  test('a name within a longer word is not meant', () => {
    expect(dropRefusedIncludes(['port', 'x'], refusal('the port_of_lading is odd'))).toEqual([
      'port',
    ])
  })

  test('other errors are not about includes', () => {
    expect(dropRefusedIncludes(['a'], new ApiUnavailableError('down'))).toBeUndefined()
    expect(dropRefusedIncludes(['a'], refusal('a', 409))).toBeUndefined()
    expect(dropRefusedIncludes([], refusal('a'))).toBeUndefined()
  })
})

describe('checkIncludes', () => {
  const link = (type: string, id: string) => ({ data: { type, id } })

  test('tells what was sent, what was withheld and what a page cannot prove', () => {
    const document = parseDocument({
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
    const asked = [
      'containers',
      'containers.raw_events',
      'pod_terminal',
      'destination',
      'containers.x',
    ]
    expect(checkIncludes(document!, asked)).toEqual({
      sent: ['containers'],
      unsent: ['containers.raw_events', 'pod_terminal'],
      unknown: ['destination', 'containers.x'],
    })
  })
})
