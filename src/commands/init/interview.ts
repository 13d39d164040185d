import { resolve } from 'node:path'
import { App } from '../../app.js'
import { ConfigError, ConnectorError, toError } from '../../base/errors.js'
import { loadConfig, readEnvironment, type SettingOrigin } from '../../config/load.js'
import { allSettings, type SettingName } from '../../config/settings.js'
import type { CommandIo } from '../command-io.js'
import { Prompt } from './prompt.js'
import {
  MISSING,
  GIVEN_NAMES,
  QUESTIONS,
  settleReader,
  type Answers,
  type Question,
} from './interview-questions.js'

/** Asks what was not given, and tests each answer before the next question. */
export class Interview {
  readonly #app: App
  readonly #io: CommandIo
  readonly #environment: Readonly<Record<string, string | undefined>>
  readonly #answers: Answers
  readonly #isEmbedded: boolean
  readonly #prompt: Prompt | undefined

  constructor(app: App, io: CommandIo, isEmbedded: boolean) {
    this.#app = app
    this.#io = io
    this.#environment = io.process.env ?? readEnvironment()
    this.#isEmbedded = isEmbedded
    this.#answers = Object.fromEntries(
      allSettings
        .filter(({ name }) => app.origins[name] === 'flag')
        .map(({ name }) => [name, String(app.config[name])]),
    )
    const { stdin, stderr } = io.process
    if (stdin?.isTTY === true) {
      this.#prompt = new Prompt({ input: stdin, output: stderr, signal: app.signal })
    }
    if (isEmbedded && this.#isGiven('databaseUrl')) {
      const problem = 'is set, and --embedded was given; use one of them'
      throw new ConfigError([{ setting: 'DATABASE_URL', problem }])
    }
  }

  get isAsking(): boolean {
    return this.#prompt !== undefined
  }

  /** What the tests found, one line each. */
  async ask(): Promise<readonly string[]> {
    this.#refuseMissing()
    const found: string[] = []
    for (const question of QUESTIONS) {
      const line = await this.#settle(question)
      if (line === undefined) continue
      found.push(line)
      this.#tell(line)
    }
    // The last, so that a login is made only for settings that are written.
    const { databaseUrl } = this.#answers
    if (databaseUrl === undefined && !this.#isGiven('databaseUrl')) return found
    const { config, origins } = this.#app
    const old = origins.readerUrl === '.env' ? config.readerUrl : undefined
    const line = await this.#try((app) =>
      settleReader(app, old, (readerUrl) => Object.assign(this.#answers, { readerUrl })),
    )
    this.#tell(line)
    return [...found, line]
  }

  #tell(line: string): void {
    if (this.isAsking) this.#io.process.stderr.write(`  ok: ${line}\n`)
  }

  /**
   * Variables for the file: what was answered or given, a secret by its file where it came so.
   * Undefined: what an old file must not have any more.
   */
  variables(): Readonly<Record<string, string | undefined>> {
    const written: Record<string, string | undefined> = {}
    for (const { name, variable, isSecret } of allSettings) {
      const answer = this.#answers[name]
      if (answer !== undefined) written[variable] = answer
      if (!GIVEN_NAMES.includes(name)) continue
      written[variable] = answer ?? present(this.#environment[variable])
      if (isSecret !== true) continue
      const file = answer === undefined ? present(this.#environment[`${variable}_FILE`]) : undefined
      written[`${variable}_FILE`] = file && resolve(this.#io.process.cwd(), file)
    }
    return written
  }

  /** Without a terminal, all that is missing is told at once. */
  #refuseMissing(): void {
    if (this.isAsking) return
    const missing = QUESTIONS.filter(
      (question) => question.isOptional !== true && !this.#isAnswered(question),
    )
    const problems = missing.flatMap(({ names }) => names.flatMap((name) => MISSING[name] ?? []))
    if (problems.length > 0) throw new ConfigError(problems)
  }

  async #settle(question: Question): Promise<string | undefined> {
    if (this.#isAnswered(question)) return this.#try(question.test)
    for (;;) {
      const { text, isSecret = false } = question
      const answer = await this.#prompt?.ask(text, { isSecret })
      if (answer === undefined || (answer === '' && question.isOptional === true)) return undefined
      try {
        const read = question.read(answer)
        const line = await this.#try(question.test, read)
        Object.assign(this.#answers, read)
        return line
      } catch (thrown) {
        if (!(thrown instanceof ConnectorError)) throw thrown
        this.#io.printError(toError(thrown).message.replaceAll('\n', '; '))
      }
    }
  }

  /** With an app of its own, which has the answers so far and nothing of a `.env`. */
  async #try(test: Question['test'], more: Answers = {}): Promise<string> {
    const loaded = loadConfig({
      environment: this.#environment,
      workingDirectory: this.#io.process.cwd(),
      flags: { ...this.#answers, ...more },
      isDotEnvIgnored: true,
    })
    const app = new App({
      loaded,
      workingDirectory: this.#io.process.cwd(),
      logStream: this.#io.process.stderr,
      isLogForPeople: true,
      signal: this.#app.signal,
      programVersion: this.#io.programVersion,
    })
    try {
      return app.redact(await test(app))
    } catch (thrown) {
      if (thrown instanceof ConnectorError) thrown.message = app.redact(thrown.message)
      throw thrown
    } finally {
      await app.close()
    }
  }

  #isAnswered({ names }: Question): boolean {
    if (names.includes('databaseUrl') && this.#isEmbedded) return true
    return names.some((name) => this.#isGiven(name))
  }

  #isGiven(name: SettingName): boolean {
    return GIVEN.includes(this.#app.origins[name])
  }
}

/** A default is a question, and so is what an old `.env` says. */
const GIVEN: readonly SettingOrigin[] = ['flag', 'environment', 'file']

function present(value: string | undefined): string | undefined {
  return value?.trim() === '' ? undefined : value
}
