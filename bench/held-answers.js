/**
 * Stands between programs and the service and holds every answer in memory: the first request of a
 * kind is passed on, all others are answered at once, so that the time of a load is not that of a
 * simulator that makes the answers meanwhile. Answers are packed as the service packs them. It is
 * asked under its own name, which the links of its answers then bear.
 *
 *   node bench/held-answers.js http://127.0.0.1:1234/v2     sends { url } to who forked it
 *
 * `{ keepIn }`: the bodies of all good answers from now on become files of that folder, unpacked
 * and in the order asked for, as a floor has to parse them; without a folder none do. Replied to
 * with `{ kept }`, how many the last folder got.
 */
import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { createServer, get } from 'node:http'
import { join } from 'node:path'
import { gunzipSync } from 'node:zlib'

const service = new URL(process.argv[2])
const held = new Map()
let folder
let kept = 0

const server = createServer((request, response) => {
  void answer(request, response).catch((error) => response.destroy(error))
})
server.listen(0, '127.0.0.1')
await once(server, 'listening')
const ownHost = `127.0.0.1:${server.address().port}`
process.on('message', ({ keepIn }) => {
  process.send({ kept })
  folder = keepIn
  kept = 0
})
process.once('disconnect', () => process.exit())
process.send({ url: `http://${ownHost}${service.pathname}` })

async function answer(request, response) {
  const { url } = request
  if (!held.has(url)) held.set(url, ask(request))
  const { statusCode, headers, body } = await held.get(url)
  if (folder !== undefined && statusCode === 200) {
    const name = `${String(kept).padStart(6, '0')}.json`
    kept += 1
    writeFileSync(join(folder, name), isPacked(headers) ? gunzipSync(body) : body)
  }
  response.writeHead(statusCode, headers).end(body)
}

async function ask({ url, headers: { authorization } }) {
  const headers = { authorization, host: ownHost, 'accept-encoding': 'gzip' }
  const [given] = await once(get(new URL(url, service), { headers }), 'response')
  const body = Buffer.concat(await given.toArray())
  const names = ['date', 'content-type', 'content-encoding']
  const shown = names.flatMap((name) =>
    name in given.headers ? [[name, given.headers[name]]] : [],
  )
  return { statusCode: given.statusCode, headers: Object.fromEntries(shown), body }
}

function isPacked({ 'content-encoding': encoding }) {
  return encoding === 'gzip'
}
