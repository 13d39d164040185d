import type { ChatChannel } from '../alert-channels.js'
import { fitLines, footerOf, type Delivery, type Message } from '../message.js'
import { postJson } from './post-json.js'

/** Teams allows 28 KB with all that it adds; a character may take three bytes. */
const MOST_CHARACTERS = 6_000

export function postToTeams(channel: ChatChannel, message: Message): Promise<Delivery> {
  return postJson(channel, JSON.stringify(toTeams(message)))
}

/**
 * An Adaptive Card for the trigger "When a Teams webhook request is received" of Workflows. Text
 * runs have no markup, so that a text of the source stays text.
 */
export function toTeams(message: Message) {
  const { title, lines } = message.content
  const paragraphs = fitLines(lines, MOST_CHARACTERS).split('\n')
  return {
    type: 'message',
    attachments: [
      {
        contentType: 'application/vnd.microsoft.card.adaptive',
        contentUrl: null,
        content: {
          $schema: 'http://adaptivecards.io/schemas/adaptive-card.json',
          type: 'AdaptiveCard',
          version: '1.4',
          body: [
            richText({ text: title, weight: 'Bolder', size: 'Medium' }),
            ...paragraphs.map((text) => richText({ text })),
            richText({ text: footerOf(message), isSubtle: true, size: 'Small' }),
          ],
        },
      },
    ],
  }
}

function richText(run: Readonly<Record<string, unknown>>) {
  return { type: 'RichTextBlock', inlines: [{ type: 'TextRun', ...run }] }
}
