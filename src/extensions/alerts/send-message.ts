import type { AlertChannels, ChannelName } from './alert-channels.js'
import { sendMail } from './channels/mail.js'
import { postToSlack } from './channels/slack.js'
import { postToTeams } from './channels/teams.js'
import { postToWebhook } from './channels/webhook.js'
import type { Delivery, Message } from './message.js'

/** Sends one message through one channel, within half a minute. Never throws. */
export async function sendMessage(
  channels: AlertChannels,
  channel: ChannelName,
  message: Message,
): Promise<Delivery> {
  const { webhook, slack, teams, mail } = channels
  if (channel === 'webhook' && webhook) return postToWebhook(webhook, message, new Date())
  if (channel === 'slack' && slack) return postToSlack(slack, message)
  if (channel === 'teams' && teams) return postToTeams(teams, message)
  if (channel === 'mail' && mail) return sendMail(mail, message)
  return { outcome: 'refused', reason: 'the channel is no longer set' }
}
