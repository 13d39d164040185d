import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { postJson } from '../../../src/extensions/alerts/channels/post-json.js'
import { toSlack } from '../../../src/extensions/alerts/channels/slack.js'
import { toTeams } from '../../../src/extensions/alerts/channels/teams.js'
import {
  describeDigest,
  describeOperation,
  type Message,
} from '../../../src/extensions/alerts/message.js'
import { sendMessage } from '../../../src/extensions/alerts/deliver-messages.js'
import { startSmtpReceiver, type SmtpReceiver } from '../../support/smtp-receiver.js'
import { startWebhookReceiver, type WebhookReceiver } from '../../support/webhook-receiver.js'

let receiver: WebhookReceiver
let smtp: SmtpReceiver
beforeAll(async () => {
  receiver = await startWebhookReceiver()
  smtp = await startSmtpReceiver()
})
afterEach(() => {
  receiver.deliveries.length = 0
  receiver.answer = () => 200
  smtp.mails.length = 0
  smtp.fate = 'take'
})
afterAll(async () => {
  await receiver.close()
  await smtp.close()
})

const message = (lines: readonly string[], title = 'Alert: TrackingSyncQuarantine'): Message => ({
  id: '11111111-2222-3333-4444-555555555555',
  event: 'opened',
  createdAt: '2026-11-24T03:00:00Z',
  content: { title, lines, data: {} },
  warehouse: 'tracking',
})

const HOSTILE = '<!channel> & <https://evil.example|click> [here](https://evil.example) **b**'

/** The one message that arrived is that of `messages/`. */
async function expectSent(channel: string): Promise<void> {
  expect(receiver.deliveries).toHaveLength(1)
  const body = JSON.parse(receiver.deliveries[0]!.body.toString()) as unknown
  await expect(`${JSON.stringify(body, null, 2)}\n`).toMatchFileSnapshot(`messages/${channel}.json`)
}

it('a text of the source breaks no line of a message', { tags: ['A5'] }, () => {
  const hostile = 'held\r\n-- \nall is well\u2028now\u202e'
  const row = {
    name: 'hold_new',
    severity: 'high',
    sentence: hostile,
    openedAt: '2026-11-24T03:00:00Z',
    closedAt: null,
    details: { container_id: '1', container_number: 'A\nB', bill_of_lading_number: 'C\nD' },
  }
  const counts = { day: '2026-11-24', opened: 1, closed: 1, open: 0 }
  const digest = describeDigest({ ...counts, openedRows: [row], closedRows: [row] })
  const alert = { alertId: 1, name: 'TrackingSyncWebhook', openedAt: '', closedAt: '' }
  const over = describeOperation({ ...alert, sentence: 'one\u2028\nt\u202ewo' }, 'a\nb')
  const lines = [...digest.lines, ...over.lines]
  expect(lines).toHaveLength(6)
  expect(lines.filter((line) => /[\p{Cc}\p{Cf}\u2028\u2029]/u.test(line))).toEqual([])
})

describe('a chat', () => {
  it.each(['slack', 'teams'] as const)(
    '%s gets a text in which the source can name nobody',
    { tags: ['A5'] },
    async (channel) => {
      const channels = { [channel]: { url: receiver.url } }
      const delivery = await sendMessage(channels, channel, message([HOSTILE]))
      expect(delivery).toEqual({ outcome: 'sent' })
      await expectSent(channel)
    },
  )

  it('of Slack gets no more than a section takes', () => {
    const lines = Array.from({ length: 400 }, (_, at) => `${at} ${'&'.repeat(100)}`)
    const { text } = toSlack(message(lines)).blocks[1] as { text: { text: string } }
    expect(text.text.length).toBeLessThanOrEqual(3_000)
    expect(text.text).toMatch(/\n… 39\d more lines$/)
  })

  it('of Teams gets less than the 28 KB that it takes', () => {
    const lines = Array.from({ length: 900 }, () => '€'.repeat(300))
    const card = JSON.stringify(toTeams(message(lines)))
    expect(Buffer.byteLength(card)).toBeLessThan(28_000)
    expect(card).toContain('more lines')
  })
})

describe('a post', () => {
  it('follows no redirect', { tags: ['A5'] }, async () => {
    receiver.answer = () => 307
    expect(await postJson(receiver, '{}')).toEqual({
      outcome: 'refused',
      reason: 'answered 307; redirects are not followed',
    })
    expect(receiver.deliveries).toHaveLength(1)
  })

  it('did not arrive where nobody listens', async () => {
    const away = await startWebhookReceiver()
    await away.close()
    expect(await postJson(away, '{}')).toMatchObject({
      outcome: 'refused',
      reason: expect.stringContaining('cannot be reached') as string,
    })
  })

  it('is in doubt where the connection ends without an answer', async () => {
    receiver.answer = (_delivery, response) => void response.destroy()
    expect(await postJson(receiver, '{}')).toMatchObject({ outcome: 'in_doubt' })
  })

  it('tells the first words of an answer that never ends, and ends itself', async () => {
    receiver.answer = (_delivery, response) => {
      response.writeHead(500)
      response.write(`no\u0007\n${'x'.repeat(5_000)}`)
      return undefined
    }
    const delivery = await postJson(receiver, '{}')
    expect(delivery).toMatchObject({ outcome: 'refused' })
    expect((delivery as { reason: string }).reason).toMatch(/^answered 500: no\\u0007\\u000ax+…$/)
  })
})

describe('a mail', () => {
  const channel = (to: readonly string[], login = '') => ({
    mail: {
      url: `smtp://${login}127.0.0.1:${smtp.port}`,
      from: 'alerts@example.com',
      to,
    },
  })

  it('has its own id, its date and a subject of one line', { tags: ['A5'] }, async () => {
    const hostile = 'Über\r\nBcc: everybody@example.com'
    const delivery = await sendMessage(
      channel(['a@example.com', 'b@example.com'], 'us%40er:pa%2Fss@'),
      'mail',
      message(['one – line', '.'], hostile),
    )
    expect(delivery).toEqual({ outcome: 'sent' })
    const { from, to, text, login } = smtp.mails[0]!
    expect({ from, to, login }).toEqual({
      from: 'alerts@example.com',
      to: ['a@example.com', 'b@example.com'],
      login: 'us@er:pa/ss',
    })
    const [head = ''] = text.split('\r\n\r\n')
    const headers = head.replaceAll(/\r\n[ \t]+/g, ' ').split('\r\n')
    expect(headers).toContain('Message-ID: <11111111-2222-3333-4444-555555555555@example.com>')
    expect(headers).toContain('Date: Tue, 24 Nov 2026 03:00:00 +0000')
    expect(headers).toContain('Auto-Submitted: auto-generated')
    expect(headers.filter((line) => /^(?:bcc|subject):/i.test(line))).toHaveLength(1)
  })

  it.each([
    ['take', 'sent'],
    ['refuse', 'refused'],
    ['be away', 'refused'],
    ['hang up', 'in_doubt'],
  ] as const)('to a server that does this: %s, is %s', async (fate, outcome) => {
    smtp.fate = fate
    const delivery = await sendMessage(channel(['a@example.com']), 'mail', message(['one']))
    expect(delivery).toMatchObject({ outcome })
  })

  it('says who of several did not get it, and is refused where nobody did', async () => {
    const some = await sendMessage(
      channel(['nobody@example.com', 'a@example.com']),
      'mail',
      message(['one']),
    )
    expect(some).toEqual({ outcome: 'sent', note: 'the server refused nobody@example.com' })
    const none = await sendMessage(channel(['nobody@example.com']), 'mail', message(['one']))
    expect(none).toMatchObject({ outcome: 'refused' })
    expect(smtp.mails).toHaveLength(1)
  })
})
