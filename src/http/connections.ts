import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Duplex } from 'node:stream'

/** The open connections of the HTTP server, and the answers under way on each. */
export interface Connections {
  add(socket: Duplex): void
  begin(request: IncomingMessage, response: ServerResponse): void
  /** Whether part of an answer was sent on it. */
  isAnswering(socket: Duplex): boolean
  /** Ends connections without a request now, the others after their answer. */
  closeWhenAnswered(): void
}

/** Node closes no connection by itself that has not sent a request yet. */
export function createConnections(): Connections {
  const answers = new Map<Duplex, Set<ServerResponse>>()
  let isClosing = false

  return {
    add: (socket) => {
      answers.set(socket, new Set())
      socket.once('close', () => {
        answers.delete(socket)
      })
    },
    begin: ({ socket }, response) => {
      const open = answers.get(socket)
      open?.add(response)
      if (isClosing) response.shouldKeepAlive = false
      response.once('close', () => {
        open?.delete(response)
        if (isClosing && open?.size === 0) socket.destroy()
      })
    },
    isAnswering: (socket) =>
      [...(answers.get(socket) ?? [])].some(({ headersSent }) => headersSent),
    closeWhenAnswered: () => {
      isClosing = true
      for (const [socket, open] of answers) {
        if (open.size === 0) socket.destroy()
        for (const response of open) {
          if (!response.headersSent) response.shouldKeepAlive = false
        }
      }
    },
  }
}
