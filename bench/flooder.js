/**
 * What strangers do to a receiver, for `flood.js`: `node bench/flooder.js <kind> <origin>`, until
 * it is killed. A process of its own, so that sending it delays nothing that is measured.
 */
import { connect } from 'node:net'

const [, , kind, origin] = process.argv
const { hostname, port } = new URL(origin)

const head = (...lines) =>
  ['POST /webhooks HTTP/1.1', 'Host: x', 'Content-Type: application/json', ...lines, '', ''].join(
    '\r\n',
  )

/** How many at once, and what each does with a connection. */
const KINDS = {
  chunks: { many: 190, use: (socket) => socket.write(ONE_BYTE_CHUNKS) },
  slow: {
    many: 250,
    use: (socket) => {
      socket.write(Buffer.concat([Buffer.from(head('Content-Length: 1048576')), MANY_BYTES]))
      const timer = setInterval(() => socket.write('a'), 200)
      socket.once('close', () => clearInterval(timer))
    },
  },
  panel: {
    many: 100,
    use: (socket) => {
      const ask = () => socket.write('GET /panels/arrivals.csv HTTP/1.1\r\nHost: localhost\r\n\r\n')
      ask()
      // Each answer has one status line, and the next question follows it.
      socket.on('data', (part) => part.includes('HTTP/1.1 ') && ask())
    },
  },
}

const ONE_BYTE_CHUNKS = head('Transfer-Encoding: chunked') + '1\r\na\r\n'.repeat(60_500)
const MANY_BYTES = Buffer.alloc(100_000, 'a')

/** A sender that is cut off connects again. */
function attack(use) {
  const socket = connect(Number(port), hostname)
  socket.once('connect', () => use(socket))
  socket.on('error', () => undefined).resume()
  socket.once('close', () => setTimeout(attack, 20, use))
}

const { many, use } = KINDS[kind]
for (let at = 0; at < many; at += 1) attack(use)
