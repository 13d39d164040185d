import type { ChatChannel } from '../alert-channels.js'
import { footerOf, type Delivery, type Message } from '../message.js'
import { fitLines } from './fit-lines.js'
import { postJson } from './post-json.js'

/** A section of a message takes 3,000 characters. */
const MOST_CHARACTERS = 2_900

export function postToSlack(channel: ChatChannel, message: Message): Promise<Delivery> {
  return postJson(channel, JSON.stringify(toSlack(message)))
}

/** A text for notifications, and blocks for the channel. */
export function toSlack(message: Message) {
  const { title, lines } = message.content
  const bullets = lines.map((line) => `• ${escape(line)}`)
  const text = [`*${escape(title)}*`, ...bullets]
  return {
    text: escape(title),
    unfurl_links: false,
    blocks: [
      {
        type: 'section',
        text: { type: 'mrkdwn', text: fitLines(text, MOST_CHARACTERS), verbatim: true },
      },
      { type: 'context', elements: [{ type: 'plain_text', text: footerOf(message) }] },
    ],
  }
}

/** Otherwise a text of the source could name people or hide an address behind words. */
function escape(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')
}
