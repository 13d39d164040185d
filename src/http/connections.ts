import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Duplex } from 'node:stream'

/** The open connections of the HTTP server, oldest first, and what is under way on each. */
export interface Connections {
  /** Above the limit, ends the oldest connection that has not sent a complete request. */
  add(socket: Duplex): void
  begin(request: IncomingMessage, response: ServerResponse): void
  /** Whether part of an answer was sent on it. */
  isAnswering(socket: Duplex): boolean
  /** Ends connections without a request now, the others after their answer. */
  closeWhenAnswered(): void
}

interface Exchange {
  readonly request: IncomingMessage
  readonly response: ServerResponse
}

/**
 * When there are too many, Node refuses the newest connection, so a few hundred silent ones would
 * shut everybody out until they time out. Here the oldest one whose request is not complete gives
 * way: a real sender needs milliseconds for its request.
 */
export function createConnections(limit: number): Connections {
  const exchanges = new Map<Duplex, Set<Exchange>>()
  let isClosing = false

  function isWaitingForRequest(socket: Duplex): boolean {
    return [...(exchanges.get(socket) ?? [])].every(({ request }) => !request.complete)
  }

  function makeRoom(): void {
    for (const socket of exchanges.keys()) {
      if (exchanges.size <= limit) return
      if (isWaitingForRequest(socket)) forget(socket)
    }
    // All of them wait for an answer: the newest are cut off.
    for (const socket of [...exchanges.keys()].slice(limit)) forget(socket)
  }

  function forget(socket: Duplex): void {
    exchanges.delete(socket)
    socket.destroy()
  }

  function end(socket: Duplex, exchange: Exchange): void {
    const left = exchanges.get(socket)
    left?.delete(exchange)
    if (isClosing && left?.size === 0) forget(socket)
  }

  return {
    add: (socket) => {
      exchanges.set(socket, new Set())
      socket.once('close', () => {
        exchanges.delete(socket)
      })
      if (exchanges.size > limit) makeRoom()
    },
    begin: (request, response) => {
      const exchange = { request, response }
      exchanges.get(request.socket)?.add(exchange)
      if (isClosing) response.shouldKeepAlive = false
      response.once('close', () => {
        end(request.socket, exchange)
      })
    },
    isAnswering: (socket) =>
      [...(exchanges.get(socket) ?? [])].some(({ response }) => response.headersSent),
    closeWhenAnswered: () => {
      isClosing = true
      for (const [socket, open] of exchanges) {
        if (open.size === 0) forget(socket)
        for (const { response } of open) {
          if (!response.headersSent) response.shouldKeepAlive = false
        }
      }
    },
  }
}
