import { describe, expect, it } from 'vitest'
import { documentSchema } from '../../../../src/source/jsonapi/schemas.js'
import { webhookEventCategories } from '../../../../src/extensions/simulator/webhooks/webhook-catalog.js'
import type { ApiAnswer } from '../../../../src/source/client/client.js'
import { ApiNotFoundError, ApiUnavailableError } from '../../../../src/base/errors.js'
import {
  listCatalogueEvents,
  neededEvents,
  readNeededEvents,
} from '../../../../src/webhooks/manage/needed-events.js'

const catalogue = listCatalogueEvents(documentSchema.parse({ data: webhookEventCategories() }))
const names = catalogue.map(({ name }) => name)

describe('the events we need', () => {
  it('are all of the catalogue, also what is new to us', () => {
    const withNews = [...catalogue, { name: 'warehouse.gate.opened' }]
    expect(neededEvents(withNews, ['all'])).toEqual([...names, 'warehouse.gate.opened'])
    expect(neededEvents(withNews, [])).toEqual([...names, 'warehouse.gate.opened'])
  })

  it.each([
    ['-document.*', (name: string) => !name.startsWith('document.')],
    [
      'container.*,-*.estimated.*,*.estimated.vessel_arrived',
      (name: string) =>
        (name.startsWith('container.') && !name.includes('.estimated.')) ||
        name.endsWith('.estimated.vessel_arrived'),
    ],
    ['tracking_request.succeeded', (name: string) => name === 'tracking_request.succeeded'],
    // A dot is a dot.
    ['-tracking_requestXsucceeded,-tracking.request.*', () => true],
  ])('follow the selection %s', (selection, isNeeded) => {
    expect(neededEvents(catalogue, selection.split(','))).toEqual(names.filter(isNeeded))
  })

  describe('without a catalogue', () => {
    const ask = (answer: Promise<ApiAnswer>, eventNames: readonly string[]) =>
      readNeededEvents({
        service: { getWebhookEvents: () => answer },
        signal: new AbortController().signal,
        events: ['all', '-b.*'],
        eventNames,
      })
    it('or with an empty one: are those of the preset', async () => {
      const empty = { document: documentSchema.parse({ data: [] }) } as unknown as ApiAnswer
      for (const answer of [
        () => Promise.reject(new ApiNotFoundError('', { observedAt: new Date() })),
        () => Promise.resolve(empty),
      ]) {
        expect(await ask(answer(), ['a.one', 'b.two', 'a.three'])).toEqual(['a.one', 'a.three'])
        expect(await ask(answer(), [])).toBeUndefined()
      }
    })

    it('because the service is away: is an error', async () => {
      const away = Promise.reject(new ApiUnavailableError('away'))
      await expect(ask(away, ['a.one'])).rejects.toThrow('away')
    })
  })
})
