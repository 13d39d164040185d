import { once } from 'node:events'
import { createServer, type AddressInfo, type Socket } from 'node:net'

export interface ReceivedMail {
  readonly from: string
  readonly to: readonly string[]
  /** Head and body as they came. */
  readonly text: string
  /** User and password of `auth plain`; undefined where nobody logged in. */
  readonly login: string | undefined
}

/** The server's answer to a mail. */
export type MailFate =
  | 'take'
  /** Says no after the whole mail came. */
  | 'refuse'
  /** Closes the connection after the whole mail came, without a word. */
  | 'hang up'
  /** Closes each connection before a word. */
  | 'be away'

export interface SmtpReceiver {
  readonly port: number
  /** Every complete mail, accepted or not. */
  readonly mails: ReceivedMail[]
  fate: MailFate
  close(): Promise<void>
}

/** A mail server that speaks as much of SMTP as a client needs, in clear text. */
export async function startSmtpReceiver(): Promise<SmtpReceiver> {
  const mails: ReceivedMail[] = []
  const sockets = new Set<Socket>()
  const server = createServer((socket) => {
    sockets.add(socket)
    socket.on('error', () => undefined)
    if (receiver.fate === 'be away') socket.destroy()
    else converse(socket, receiver)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const receiver: SmtpReceiver = {
    port: (server.address() as AddressInfo).port,
    mails,
    fate: 'take',
    close: async () => {
      const closed = once(server, 'close')
      server.close()
      for (const socket of sockets) socket.destroy()
      await closed
    },
  }
  return receiver
}

function converse(socket: Socket, receiver: SmtpReceiver): void {
  let from = ''
  let to: string[] = []
  let login: string | undefined
  let waiting = ''
  let isMail = false
  const say = (line: string): void => void socket.write(`${line}\r\n`)
  const take = (text: string): void => {
    receiver.mails.push({ from, to, text, login })
    if (receiver.fate === 'hang up') socket.destroy()
    else say(receiver.fate === 'refuse' ? '451 try again later' : '250 taken')
  }
  const answer = (line: string): void => {
    const [word = '', ...rest] = line.split(' ')
    const address = /<(.*)>/.exec(line)?.[1] ?? ''
    switch (word.toUpperCase()) {
      case 'EHLO':
        socket.write('250-receiver\r\n250 AUTH PLAIN\r\n')
        return
      case 'AUTH':
        login = Buffer.from(rest[1] ?? '', 'base64')
          .toString()
          .split('\0')
          .slice(1)
          .join(':')
        say('235 welcome')
        return
      case 'MAIL':
        from = address
        to = []
        break
      case 'RCPT':
        if (address.startsWith('nobody@')) {
          say('550 no such person')
          return
        }
        to.push(address)
        break
      case 'DATA':
        isMail = true
        say('354 go on')
        return
      case 'QUIT':
        socket.end('221 bye\r\n')
        return
    }
    say('250 ok')
  }
  say('220 receiver')
  socket.on('data', (chunk: Buffer) => {
    waiting += chunk.toString('latin1')
    for (;;) {
      const end = isMail ? '\r\n.\r\n' : '\r\n'
      const at = waiting.indexOf(end)
      if (at === -1) return
      const text = waiting.slice(0, at)
      waiting = waiting.slice(at + end.length)
      if (isMail) {
        isMail = false
        take(text)
      } else answer(text)
    }
  })
}
