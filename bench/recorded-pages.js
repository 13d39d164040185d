import { once } from 'node:events'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { createServer, get } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { atEnd } from './bench-world.js'

/**
 * Stands between a program and the service and keeps the body of every good answer as a file, in
 * the order asked for: what a floor has to parse is then what the program was sent, byte for byte,
 * unpacked. It is asked under our name, which its links then bear. `close` ends it; the files stay
 * until the bench ends.
 */
export async function startRecorder(serviceUrl) {
  const directory = await mkdtemp(join(tmpdir(), 'tracking-sync-pages-'))
  atEnd(() => rm(directory, { recursive: true, force: true }))
  let count = 0
  const server = createServer(async (request, response) => {
    const { authorization, host } = request.headers
    const asked = get(new URL(request.url, serviceUrl), { headers: { authorization, host } })
    const [answer] = await once(asked, 'response')
    const body = Buffer.concat(await answer.toArray())
    const { statusCode, headers } = answer
    if (statusCode === 200) {
      const file = join(directory, `${String(count).padStart(6, '0')}.json`)
      count += 1
      await writeFile(file, body)
    }
    const { date, 'content-type': contentType } = headers
    response.writeHead(statusCode, { date, 'content-type': contentType }).end(body)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const url = `http://127.0.0.1:${server.address().port}${new URL(serviceUrl).pathname}`
  return {
    url,
    directory,
    close: async () => {
      server.close()
      server.closeAllConnections()
      await once(server, 'close')
      return count
    },
  }
}
