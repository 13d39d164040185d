import type { ChatChannel } from '../alert-channels.js'
import { fitLines, footerOf, type Delivery, type Message } from '../message.js'
import { postJson } from './post-json.js'

/** Slack allows 3,000 characters in a section. */
const MOST_CHARACTERS = 2_900
const MOST_OF_HEADER = 150

export function postToSlack(channel: ChatChannel, message: Message): Promise<Delivery> {
  return postJson(channel, JSON.stringify(toSlack(message)))
}

/**
 * A text for notifications, and blocks for the channel. All of it is plain text, so that characters
 * of the source never become markup.
 */
export function toSlack(message: Message) {
  const { title, lines } = message.content
  const bullets = lines.map((line) => `• ${escape(line)}`)
  return {
    text: escape(title),
    mrkdwn: false,
    unfurl_links: false,
    blocks: [
      { type: 'header', text: plain(escape(title).slice(0, MOST_OF_HEADER)) },
      { type: 'section', text: plain(fitLines(bullets, MOST_CHARACTERS)) },
      { type: 'context', elements: [plain(escape(footerOf(message)))] },
    ],
  }
}

function plain(text: string) {
  return { type: 'plain_text', text, emoji: false }
}

/**
 * Slack interprets these three in every text: they mention people, and hide an address behind
 * words.
 */
function escape(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')
}
