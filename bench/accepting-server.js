/**
 * The floor under the receiver: an HTTP server that reads every body and answers 202, and does
 * nothing else. Prints its address.
 */
import { createServer } from 'node:http'

const server = createServer((request, response) => {
  request.resume().on('end', () => {
    response.writeHead(202, { 'content-type': 'application/json' }).end('{"result":"stored"}')
  })
})
server.listen(0, '127.0.0.1', () => {
  process.stdout.write(`serving at http://127.0.0.1:${server.address().port}, nothing stored\n`)
})
