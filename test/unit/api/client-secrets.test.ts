import { inspect } from 'node:util'
import { expect, test } from 'vitest'
import {
  canaryKey,
  createRecordingLogger,
  emptyList,
  failureOf,
  reply,
  useServices,
  type Answer,
} from './fake-service.js'

const { start } = useServices()

function everythingOf(error: unknown): string {
  const chain: string[] = []
  for (let link = error; link instanceof Error; link = link.cause) {
    chain.push(link.message, link.stack ?? '', JSON.stringify(Object.entries(link)))
  }
  return [inspect(error, { depth: 20, showHidden: true }), ...chain].join('\n')
}

const echo = `you sent ${canaryKey}`
const answers: [string, Answer][] = [
  ['a 401 that echoes it', reply(401, { errors: [{ title: 'x', detail: echo }] })],
  ['a 422 that echoes it', reply(422, { errors: [{ title: echo, source: { pointer: echo } }] })],
  ['a 500 that echoes it', reply(500, echo)],
  ['a page that echoes it', reply(200, `<p>${echo}`, { 'content-type': 'text/html' })],
  ['a redirect that echoes it', reply(302, '', { location: `https://evil.example/${canaryKey}` })],
  ['bytes that are no HTTP', (request) => request.socket.end(`${echo}\r\n\r\n`)],
  ['a cut connection', (request) => request.socket.destroy()],
  ['silence', () => undefined],
  ['a good answer', reply(200, emptyList)],
]

test.each(answers)('after %s the key is shown nowhere', { tags: ['S2'] }, async (_name, answer) => {
  const { logger, lines } = createRecordingLogger()
  const { service, client } = await start(answer, { logger, timeouts: { totalMs: 60 } })
  const query = { token: 'query-canary-77', 'page[number]': 3 }
  const outcome = await client.get('/containers', { query }).catch((error: unknown) => error)
  const output = [everythingOf(outcome), inspect(client, { depth: 20, showHidden: true }), ...lines]
  expect(service.headers[0]?.authorization).toBe(`Token ${canaryKey}`)
  expect(output.join('\n')).not.toContain(canaryKey)
  expect(output.join('\n')).not.toContain(Buffer.from(canaryKey).toString('base64'))
  expect(output.join('\n')).not.toContain('query-canary-77')
  expect(lines.join('\n')).toContain(outcome instanceof Error ? '' : 'containers page 3')
})

test('JSON that cannot be read is not quoted, for its secrets', { tags: ['S2'] }, async () => {
  const { client } = await start(reply(200, '{"data":[{"attributes":{"secret":"hush-hush"'))
  expect(everythingOf(await failureOf(client.get('/webhooks')))).not.toContain('hush-hush')
})
