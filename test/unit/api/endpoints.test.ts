import { expect, test } from 'vitest'
import { createTrackingService } from '../../../src/source/client/endpoints.js'
import { ApiContractError } from '../../../src/base/errors.js'
import { container, failureOf, reply, useServices } from './fake-service.js'

const services = useServices()

async function start(body: unknown, status = 200) {
  const bodies: string[] = []
  const paths: (string | undefined)[] = []
  const { service, client } = await services.start((request, response) => {
    let text = ''
    paths.push(request.url)
    request.on('data', (chunk: Buffer) => (text += chunk.toString()))
    request.on('end', () => {
      bodies.push(text)
      reply(status, body)(request, response)
    })
  })
  return { service, bodies, paths, api: createTrackingService(client) }
}

test('encodes an id, so that it stays one segment of the path', async () => {
  const { api, paths } = await start({ data: container('1') })
  await api.getRecord('containers', 'a/b?c#d e%2f..')
  await api.updateCustomField('containers', 'x/y', 'po#1', 'v')
  expect(paths).toEqual([
    '/v2/containers/a%2Fb%3Fc%23d%20e%252f..',
    '/v2/containers/x%2Fy/custom_fields/po%231',
  ])
})

test.each(['', '.', '..', '\ud800', 'a\u0000b', 'x'.repeat(256)])(
  'the id %j, which no path can carry, costs its record and no request',
  { tags: ['T7'] },
  async (id) => {
    const { api, service } = await start({ data: container('1') })
    expect(await failureOf(api.getRecord('containers', id))).toBeInstanceOf(ApiContractError)
    expect(service.requests).toHaveLength(0)
  },
)
