import { App } from '../../../app.js'
import { ConfigError, ConnectorError, toError } from '../../../base/errors.js'
import type { EnvChanges } from '../env-file.js'
import { loadConfig, readEnvironment, type SettingOrigin } from '../../../config/load.js'
import type { Setting } from '../../../config/setting.js'
import { coreSettings, type SettingName } from '../../../config/settings.js'
import { settingsOf } from '../../../extension.js'
import type { CommandIo } from '../../../commands/command-io.js'
import { Prompt } from '../prompt.js'
import {
  MISSING,
  GIVEN_NAMES,
  QUESTIONS,
  settleReader,
  type Answers,
  type Question,
} from './interview-questions.js'

const SETTINGS = Object.entries(coreSettings) as [SettingName, Setting][]

/** Asks for missing settings, and tests each answer before the next question. */
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
      SETTINGS.filter(([name]) => app.origins[name] === 'flag').map(([name]) => [
        name,
        String(app.config[name]),
      ]),
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

  /** Results of the tests, one line each. */
  async ask(): Promise<readonly string[]> {
    this.#refuseMissing()
    const found: string[] = []
    for (const question of QUESTIONS) {
      const line = await this.#settle(question)
      if (line === undefined) continue
      found.push(line)
      this.#tell(line)
    }
    // Last, so that a login is made only for settings that are written.
    const hasDatabase = this.#isGiven('databaseUrl') || this.#isKept({ names: ['databaseUrl'] })
    if (this.#answers.databaseUrl === undefined && !hasDatabase) return found
    const { config, origins } = this.#app
    const old = origins.readerUrl === '.env' ? config.readerUrl : undefined
    const line = await this.#try(
      (app) => settleReader(app, old, (readerUrl) => Object.assign(this.#answers, { readerUrl })),
      {},
      Object.keys(NO_READER),
    )
    this.#tell(line)
    return [...found, line]
  }

  #tell(line: string): void {
    if (this.isAsking) this.#io.process.stderr.write(`  ok: ${line}\n`)
  }

  /**
   * The changes of the file: the answers and given settings, a secret by its file if it came so.
   * Undefined removes a line that contradicts them.
   */
  changes(): EnvChanges {
    return this.#changesWith({})
  }

  #changesWith(more: Answers): EnvChanges {
    const answers = { ...this.#answers, ...more }
    const changes: Record<string, string | undefined> = {}
    if (this.#isEmbedded) Object.assign(changes, NO_DATABASE)
    for (const [name, { variable, isSecret }] of SETTINGS) {
      const isGiven = answers[name] === undefined && GIVEN_NAMES.includes(name)
      const file = isGiven && isSecret === true ? this.#present(`${variable}_FILE`) : undefined
      const value = isGiven ? this.#present(variable) : answers[name]
      if (value === undefined && file === undefined) continue
      changes[variable] = value
      if (isSecret === true) changes[`${variable}_FILE`] = file
    }
    // A preset has its own address.
    const { TRACKING_SERVICE: service, TRACKING_API_URL: apiUrl } = changes
    if (service !== undefined && service !== 'generic') changes.TRACKING_API_URL = apiUrl
    return changes
  }

  #present(variable: string): string | undefined {
    const value = this.#environment[variable]
    return value?.trim() === '' ? undefined : value
  }

  /** Without a terminal, reports all missing settings at once. */
  #refuseMissing(): void {
    if (this.isAsking) return
    const missing = QUESTIONS.filter(
      (question) => question.isOptional !== true && !this.#isAnswered(question),
    )
    const problems = missing.flatMap(({ names }) => names.flatMap((name) => MISSING[name] ?? []))
    if (problems.length > 0) throw new ConfigError(problems)
  }

  async #settle(question: Question): Promise<string | undefined> {
    const isKept = this.#isKept(question)
    if (this.#isAnswered(question) && !(isKept && this.isAsking)) return this.#try(question.test)
    const { text, isSecret = false } = question
    const onEnter = isKept ? 'keeps what .env has' : question.onEnter
    const asked = `${text}${onEnter === undefined ? '' : `; Enter ${onEnter}`}: `
    for (;;) {
      const answer = await this.#prompt?.ask(asked, { isSecret })
      if (answer === undefined) return undefined
      if (answer === '' && question.isOptional === true && !isKept) return undefined
      try {
        const read = answer === '' && isKept ? {} : question.read(answer)
        const line = await this.#try(question.test, read)
        Object.assign(this.#answers, read)
        return line
      } catch (thrown) {
        if (!(thrown instanceof ConnectorError)) throw thrown
        this.#io.printError(toError(thrown).message.replaceAll('\n', '; '))
      }
    }
  }

  /**
   * Runs a test with an app of its own, with the answers so far and the remaining lines of `.env`.
   */
  async #try(
    test: Question['test'],
    more: Answers = {},
    without: readonly string[] = [],
  ): Promise<string> {
    const loaded = loadConfig({
      environment: this.#environment,
      workingDirectory: this.#io.process.cwd(),
      flags: { ...this.#answers, ...more },
      groups: await settingsOf(this.#app.extensions),
      withoutDotEnv: [...Object.keys(this.#changesWith(more)), ...without],
    })
    const app = new App({
      loaded,
      extensions: this.#app.extensions,
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
    return names.some((name) => this.#isGiven(name)) || this.#isKept({ names })
  }

  #isGiven(name: SettingName): boolean {
    return GIVEN.includes(this.#app.origins[name])
  }

  /** A value of `.env` stays unless a flag, the environment or an answer replaces it. */
  #isKept({ names }: Pick<Question, 'names'>): boolean {
    if (names.includes('databaseUrl') && this.#isEmbedded) return false
    if (names.some((name) => this.#isGiven(name))) return false
    return names.some((name) => this.#app.origins[name] === '.env')
  }
}

const GIVEN: readonly SettingOrigin[] = ['flag', 'environment', 'file']

const NO_READER = { TRACKING_READER_URL: undefined, TRACKING_READER_URL_FILE: undefined }

const NO_DATABASE = { DATABASE_URL: undefined, DATABASE_URL_FILE: undefined, ...NO_READER }
