import { errorAnswer, type Answer } from './answers.js'
import type { Clock } from '../world/clock.js'
import type { Edits } from '../world/edits.js'
import type { RequestLog } from './request-log.js'
import type { WebhookMachine } from '../webhooks/simulated-webhooks.js'
import { controlWebhooks } from '../webhooks/webhook-control.js'
import type { World } from '../world/world.js'

/**
 * The control surface, for people in another shell. It is beside the interface: without key, faults
 * or rate limit.
 *
 *   GET  /simulator                 {"time", "speed", "counts", "edits", "requests", "webhooks"}
 *   POST /simulator/clock           {"advance_hours": 24}   or   {"speed": 3600}   (0 stops it)
 *   POST /simulator/edits           {"change": {"type", "id", "attributes"}}
 *                                   {"delete": {"type", "id"}}     {"revive": {"type", "id"}}
 *                                   {"withdraw_event": {"container_id", "event_id"}}
 *                                   {"add_hold": {"container_id", "name", "status", "description"}}
 *                                   {"clear_hold": {"container_id", "name"}}
 *                                   {"insert_shipments": 5}
 *   POST /simulator/webhooks        see webhook-control.ts
 *
 * Every answer is the state after the request, as `GET /simulator` shows it.
 */
export interface ControlSurface {
  readonly clock: Clock
  readonly world: World
  readonly edits: Edits
  readonly requests: RequestLog
  readonly sending: Pick<WebhookMachine, 'webhooks'>
}

export function answerControl(
  surface: ControlSurface,
  method: string,
  path: string,
  body: unknown,
): Answer {
  const given = asObject(body)
  if (method === 'GET' && path === '/simulator') return state(surface)
  if (method === 'POST' && path === '/simulator/clock') return setClock(surface, given)
  if (method === 'POST' && path === '/simulator/edits') return edit(surface, given)
  if (method === 'POST' && path === '/simulator/webhooks') {
    const problem = controlWebhooks(surface.sending.webhooks, given)
    if (problem !== undefined) return errorAnswer(422, 'Unprocessable Entity', problem)
    return state(surface)
  }
  return errorAnswer(404, 'Not Found', `There is no ${method} ${path}.`)
}

function state({ clock, world, edits, requests, sending }: ControlSurface): Answer {
  const now = clock.now()
  const document = {
    time: now.toISOString(),
    speed: clock.speed,
    counts: world.counts(now),
    edits: edits.version,
    requests: requests.total,
    webhooks: sending.webhooks.outstanding(),
  }
  return { status: 200, document }
}

function setClock(surface: ControlSurface, given: Record<string, unknown>): Answer {
  const { advance_hours: advanceHours, speed } = given
  const isUsable = (value: unknown): value is number =>
    typeof value === 'number' && Number.isFinite(value) && value >= 0
  if (isUsable(speed)) surface.clock.setSpeed(speed)
  if (isUsable(advanceHours)) surface.clock.advance(advanceHours * 3_600_000)
  if (!isUsable(speed) && !isUsable(advanceHours)) {
    return errorAnswer(422, 'Unprocessable Entity', 'Give advance_hours or speed, at least 0.')
  }
  return state(surface)
}

function edit(surface: ControlSurface, given: Record<string, unknown>): Answer {
  const [[name, argument] = ['', undefined]] = Object.entries(given)
  const { edits } = surface
  const text = (key: string): string => {
    const value = asObject(argument)[key]
    return typeof value === 'string' ? value : ''
  }
  switch (name) {
    case 'change':
      edits.change(text('type'), text('id'), asObject(asObject(argument).attributes))
      break
    case 'delete':
      edits.delete(text('type'), text('id'))
      break
    case 'revive':
      edits.revive(text('type'), text('id'))
      break
    case 'withdraw_event':
      edits.withdrawEvent(text('container_id'), text('event_id'))
      break
    case 'add_hold':
      edits.addHold(text('container_id'), {
        name: text('name'),
        status: text('status') === 'pending' ? 'pending' : 'hold',
        description: text('description') || null,
      })
      break
    case 'clear_hold':
      edits.clearHold(text('container_id'), text('name'))
      break
    case 'insert_shipments':
      edits.insertShipments(Number(argument) || 1)
      break
    default:
      return errorAnswer(422, 'Unprocessable Entity', `${name} is no edit.`)
  }
  return state(surface)
}

function asObject(value: unknown): Record<string, unknown> {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {}
}
