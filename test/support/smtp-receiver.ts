import { once } from 'node:events'
import { createServer, type AddressInfo, type Socket } from 'node:net'
import { createInterface } from 'node:readline'
import { listen } from '../unit/api/fake-service.js'

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
    else converse(socket, receiver).catch(() => undefined)
  })
  await listen(server)
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

async function converse(socket: Socket, receiver: SmtpReceiver): Promise<void> {
  let [from, to, login]: [string, string[], string | undefined] = ['', [], undefined]
  let text: string[] | undefined
  const say = (line: string): void => void socket.write(`${line}\r\n`)
  say('220 receiver')
  for await (const line of createInterface(socket.setEncoding('latin1'))) {
    const [word = '', , argument = ''] = line.split(' ')
    const address = /<(.*)>/.exec(line)?.[1] ?? ''
    if (text !== undefined && line !== '.') text.push(line)
    else if (text !== undefined) {
      receiver.mails.push({ from, to, text: text.join('\r\n'), login })
      text = undefined
      if (receiver.fate === 'hang up') socket.destroy()
      else say(receiver.fate === 'refuse' ? '451 try again later' : '250 taken')
    } else if (address.startsWith('nobody@')) say('550 no such person')
    else {
      if (word === 'AUTH') {
        login = Buffer.from(argument, 'base64').toString().split('\0').slice(1).join(':')
      }
      if (word === 'MAIL') [from, to] = [address, []]
      if (word === 'RCPT') to.push(address)
      if (word === 'DATA') text = []
      say(ANSWERS[word] ?? '250 ok')
    }
  }
}

const ANSWERS: Readonly<Record<string, string>> = {
  EHLO: '250-receiver\r\n250 AUTH PLAIN',
  AUTH: '235 welcome',
  DATA: '354 go on',
  QUIT: '221 bye',
}
