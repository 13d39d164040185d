import type { SimulatedWebhooks } from './simulated-webhooks.js'
import type { Disturbance, ScriptedDisturbance } from './webhook-script.js'

/**
 * Orders that people in another shell may give to the webhooks:
 *
 *   {"deliver": true}                      look and send now, as with a running clock
 *   {"disturb": {"kind": "duplicate", "copies": 3, "share": 0.2, "times": 5, "attempts": 1, "event": "container.updated"}}
 *              kinds: duplicate copies | delay virtual_ms, spread_ms | reorder window | drop as (failed, lost) | thin |
 *              partial | created_at value or offset_ms (neither: missing) | signature value | body as (cut, html, empty)
 *   {"clear": true}                        the end of all disturbances
 *   {"emit": {"event": "container.created", "container_id", "shipment_id", "transport_event_id", "tracking_request_id"}}
 *   {"burst": {"count": 100, "per_second": 50}}
 *
 * Returns the fault of the order; undefined when it is carried out.
 */
export function controlWebhooks(webhooks: SimulatedWebhooks, given: Given): string | undefined {
  const [[name, argument] = ['', undefined]] = Object.entries(given)
  const order = asObject(argument)
  switch (name) {
    case 'deliver':
      void webhooks.deliverDue()
      return undefined
    case 'disturb': {
      const scripted = readDisturbance(order)
      if (scripted === undefined)
        return `${String(order.kind)} is no disturbance, or lacks a value.`
      webhooks.script.add(scripted)
      return undefined
    }
    case 'clear':
      webhooks.script.clear()
      return undefined
    case 'emit':
      return emit(webhooks, order)
    case 'burst': {
      const count = numberOf(order.count) ?? 100
      const perSecond = numberOf(order.per_second)
      if (perSecond === 0) return 'per_second must be above 0.'
      webhooks.burst(count, perSecond === undefined ? {} : { perSecond }).catch(() => {
        // A world without containers has nothing to send; the person sees that nothing comes.
      })
      return undefined
    }
    default:
      return `${name} is no order for webhooks.`
  }
}

type Given = Readonly<Record<string, unknown>>

function emit(webhooks: SimulatedWebhooks, order: Given): string | undefined {
  const id = (name: string): string | undefined => textOf(order[name])
  const about = {
    containerId: id('container_id'),
    shipmentId: id('shipment_id'),
    transportEventId: id('transport_event_id'),
    trackingRequestId: id('tracking_request_id'),
  }
  try {
    webhooks.emit(textOf(order.event) ?? '', about)
    return undefined
  } catch (thrown) {
    if (thrown instanceof RangeError) return thrown.message
    throw thrown
  }
}

function readDisturbance(order: Given): ScriptedDisturbance | undefined {
  const disturbance = readKind(order)
  if (disturbance === undefined) return undefined
  const { share, times, attempts } = {
    share: numberOf(order.share),
    times: numberOf(order.times),
    attempts: numberOf(order.attempts),
  }
  const match = textOf(order.event)
  return {
    disturbance,
    ...(match === undefined ? {} : { match }),
    ...(share === undefined ? {} : { share }),
    ...(times === undefined ? {} : { times }),
    ...(attempts === undefined ? {} : { attempts }),
  }
}

function readKind(order: Given): Disturbance | undefined {
  const { as, value } = order
  switch (order.kind) {
    case 'duplicate':
      return { kind: 'duplicate', copies: numberOf(order.copies) ?? 2 }
    case 'delay':
      return {
        kind: 'delay',
        virtualMs: numberOf(order.virtual_ms) ?? 0,
        spreadMs: numberOf(order.spread_ms) ?? 0,
      }
    case 'reorder':
      return { kind: 'reorder', window: Math.max(1, numberOf(order.window) ?? 10) }
    case 'drop':
      return as === 'lost' || as === 'failed' ? { kind: 'drop', as } : undefined
    case 'thin':
    case 'partial':
      return { kind: order.kind }
    case 'created_at': {
      const { offset_ms: offsetMs } = order
      if (typeof offsetMs === 'number') return { kind: 'createdAt', value: { offsetMs } }
      return { kind: 'createdAt', value: textOf(value) ?? null }
    }
    case 'signature':
      return typeof value === 'string' || value === null
        ? { kind: 'signature', value }
        : { kind: 'signature' }
    case 'body':
      return as === 'cut' || as === 'html' || as === 'empty' ? { kind: 'body', as } : undefined
    default:
      return undefined
  }
}

function textOf(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined
}

function numberOf(value: unknown): number | undefined {
  return typeof value === 'number' && Number.isFinite(value) && value >= 0 ? value : undefined
}

function asObject(value: unknown): Given {
  return typeof value === 'object' && value !== null ? (value as Given) : {}
}
