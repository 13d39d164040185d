import { toError } from '../../../base/errors.js'
import { showText } from '../../../base/phrases.js'
import { isThisMachine } from '../../../base/service-address.js'
import type { MailChannel } from '../alert-channels.js'
import { footerOf, type Delivery, type Message } from '../message.js'

const CONNECT_MS = 10_000
const SILENCE_MS = 15_000

/**
 * Sends one mail and never throws. Nothing can have arrived before the server is asked to take the
 * mail; after that only the server's answer tells. A server on another machine must offer TLS.
 */
export async function sendMail(channel: MailChannel, message: Message): Promise<Delivery> {
  const body = await composeMail(channel, message)
  const { SMTPConnection } = await loadMailer()
  const url = new URL(channel.url)
  const isSecure = url.protocol === 'smtps:'
  const isHere = isThisMachine(url.hostname)
  const connection = new SMTPConnection({
    host: url.hostname.replace(/^\[|\]$/g, ''),
    port: url.port === '' ? (isSecure ? 465 : 587) : Number(url.port),
    secure: isSecure,
    requireTLS: !isSecure && !isHere,
    ignoreTLS: isHere,
    connectionTimeout: CONNECT_MS,
    greetingTimeout: CONNECT_MS,
    dnsTimeout: CONNECT_MS,
    socketTimeout: SILENCE_MS,
  })
  const progress = { isHandedOver: false }
  try {
    // A broken connection raises an event, but not always a callback.
    return await new Promise<Delivery>((resolve, reject) => {
      connection.on('error', reject)
      const hand = (): void => {
        progress.isHandedOver = true
        const envelope = { from: channel.from, to: [...channel.to] }
        connection.send(envelope, body, (error, info) => {
          if (error) reject(error)
          else resolve(describeRefused(info.rejected))
        })
      }
      connection.connect((error) => {
        if (error) reject(error)
        else if (url.username === '') hand()
        else {
          const user = decodeURIComponent(url.username)
          const pass = decodeURIComponent(url.password)
          connection.login({ user, pass }, (refusal) => {
            if (refusal) reject(refusal)
            else hand()
          })
        }
      })
    })
  } catch (thrown) {
    const reason = showText(toError(thrown).message, 200)
    // Only an answer of the server has a code; a mail that the library refuses was never sent.
    const { responseCode, command } = thrown as { responseCode?: number; command?: string }
    const isAnswered = responseCode !== undefined || command === 'API'
    if (!progress.isHandedOver || isAnswered) return { outcome: 'refused', reason }
    return { outcome: 'in_doubt', reason: `no answer came: ${reason}` }
  } finally {
    connection.close()
  }
}

function describeRefused(rejected: readonly string[]): Delivery {
  if (rejected.length === 0) return { outcome: 'sent' }
  return { outcome: 'sent', note: `the server refused ${rejected.join(', ')}` }
}

/** The same bytes at each attempt: id and date are the message's own. */
async function composeMail({ from, to }: MailChannel, message: Message): Promise<Buffer> {
  const { id, createdAt, content } = message
  const { MailComposer } = await loadMailer()
  const mail = new MailComposer({
    from,
    to: [...to],
    subject: `[tracking-sync] ${content.title}`,
    text: [...content.lines, '', '-- ', footerOf(message), ''].join('\n'),
    messageId: `<${id}@${from.split('@')[1] ?? 'tracking-sync'}>`,
    date: new Date(createdAt),
    headers: { 'auto-submitted': 'auto-generated' },
    disableFileAccess: true,
    disableUrlAccess: true,
  })
  return mail.compile().build()
}

/** Loaded on demand: most runs send no mail, and the package takes time to load. */
async function loadMailer() {
  const [connection, composer] = await Promise.all([
    import('nodemailer/lib/smtp-connection'),
    import('nodemailer/lib/mail-composer'),
  ])
  return { SMTPConnection: connection.default, MailComposer: composer.default }
}
