import { createInterface } from 'node:readline/promises'
import { Writable } from 'node:stream'

export interface PromptOptions {
  readonly input: NodeJS.ReadableStream
  /** The stream for questions: not standard output, which may be a file. */
  readonly output: NodeJS.WritableStream
  readonly signal: AbortSignal
}

/** Thrown when the person ends the input, by Ctrl-C or Ctrl-D, before all is answered. */
export class PromptEndedError extends Error {
  override readonly name = 'PromptEndedError'
}

/** Asks a person at a terminal, one question after the other. */
export class Prompt {
  readonly #options: PromptOptions

  constructor(options: PromptOptions) {
    this.#options = options
  }

  /** The trimmed answer. A secret one is not shown while it is typed. */
  async ask(question: string, { isSecret = false } = {}): Promise<string> {
    const { input, output, signal } = this.#options
    if (isSecret) output.write(question)
    const end = new AbortController()
    const stop = (): void => {
      end.abort()
    }
    // Readline echoes input: a secret is not echoed.
    const echo = isSecret
      ? new Writable({
          write: (_chunk, _encoding, done) => {
            done()
          },
        })
      : output
    const lines = createInterface({ input, output: echo, terminal: true })
    lines.once('close', stop)
    lines.once('SIGINT', stop)
    signal.addEventListener('abort', stop, { once: true })
    try {
      return (await lines.question(isSecret ? '' : question, { signal: end.signal })).trim()
    } catch (cause) {
      signal.throwIfAborted()
      throw new PromptEndedError('the input ended before all questions were answered', { cause })
    } finally {
      signal.removeEventListener('abort', stop)
      lines.removeListener('close', stop)
      lines.close()
      if (isSecret) output.write('\n')
    }
  }
}
