import { createHmac } from 'node:crypto'
import { Pool } from 'undici'

export const SECRET = 'bench-webhook-secret'
const SIGNATURE_HEADER = 'x-svc-webhook-signature'
const CONNECTIONS = 64

/**
 * Deliveries as the simulator writes them, numbered: each a notification of its own with a new seal
 * number of one of the containers, a second newer than the last about that container. `templates`
 * are the parsed bodies of real deliveries, one per container.
 */
export function createDeliveryMaker(templates, startAt) {
  let number = 0
  return (prefix) => {
    const { data, included } = structuredClone(templates[number % templates.length])
    const round = Math.floor(number / templates.length)
    const createdAt = `${new Date(startAt + round * 1000).toISOString().slice(0, 19)}Z`
    const seal = `SEAL${number}`
    number += 1
    data.id = `${prefix}-${number}`
    Object.assign(data.attributes, { id: data.id, created_at: createdAt })
    for (const record of included) {
      if (record.type === 'container') record.attributes.seal_number = seal
      if (record.type === 'container_updated_event') {
        record.id = `${data.id}-event`
        record.attributes.changeset = { seal_number: [`SEAL${number - templates.length}`, seal] }
        data.relationships.reference_object.data.id = record.id
      }
    }
    const body = Buffer.from(JSON.stringify({ data, included }))
    const signature = createHmac('sha256', SECRET).update(body).digest('hex')
    return { body, headers: { 'content-type': 'application/json', [SIGNATURE_HEADER]: signature } }
  }
}

/**
 * Sends deliveries at a steady pace, whatever becomes of those before (an open loop). The time of
 * each counts from the instant it should have been sent to the whole answer, so that a sender or
 * receiver that falls behind shows.
 */
export async function sendAtRate(url, deliveries, perSecond) {
  const { origin, pathname: path } = new URL(url)
  const pool = new Pool(origin, { connections: CONNECTIONS })
  const latencies = []
  const statuses = {}
  const underWay = new Set()
  const startedAt = performance.now()
  const send = async (delivery, dueAt) => {
    let status
    try {
      const answer = await pool.request({ path, method: 'POST', ...delivery })
      await answer.body.dump()
      status = answer.statusCode
      latencies.push(performance.now() - dueAt)
    } catch (error) {
      status = error.code ?? error.message
    }
    statuses[status] = (statuses[status] ?? 0) + 1
  }
  let sent = 0
  while (sent < deliveries.length) {
    const due = Math.floor(((performance.now() - startedAt) / 1000) * perSecond) + 1
    for (; sent < Math.min(due, deliveries.length); sent += 1) {
      const sending = send(deliveries[sent], startedAt + (sent / perSecond) * 1000)
      underWay.add(sending)
      void sending.then(() => underWay.delete(sending))
    }
    await new Promise((resolve) => setTimeout(resolve, 1))
  }
  await Promise.all(underWay)
  const seconds = (performance.now() - startedAt) / 1000
  await pool.close()
  const acknowledged = statuses[202] ?? 0
  return { acknowledged, statuses, perSecond: acknowledged / seconds, ...quantiles(latencies) }
}

/** In the unit of what is given; undefined of nothing. */
export function quantiles(numbers) {
  const sorted = [...numbers].sort((one, two) => one - two)
  const at = (share) => sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))]
  return { p50: at(0.5), p95: at(0.95), p99: at(0.99), max: sorted.at(-1) }
}
