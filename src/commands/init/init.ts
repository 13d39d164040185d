import { existsSync } from 'node:fs'
import { resolve } from 'node:path'
import { ConfigError } from '../../base/errors.js'
import { exitCodeOfSignal } from '../../base/exit-code.js'
import { declare, flag, SERVICE_ONLY } from '../declare-command.js'

const FILE = '.env'

export const init = declare({
  name: 'init',
  isForAccount: false,
  help:
    'Ask for service, key, database and webhook, test each answer, and write .env. ' +
    'What is given as a flag or in the environment is tested and not asked for. ' +
    'Secrets come from the environment or from files, or are typed unseen.',
  settings: [...SERVICE_ONLY, 'webhookUrl'],
  json: 'Print what was found as JSON.',
  takes: {
    isEmbedded: flag('--embedded', 'Use the embedded database instead of DATABASE_URL.'),
    isReplacing: flag('--overwrite', 'Change the settings in a .env that is there.'),
  },
  run: async (app, { isEmbedded, isReplacing }, io) => {
    const path = resolve(io.process.cwd(), FILE)
    if (existsSync(path) && !isReplacing) {
      const problem = 'exists already; --overwrite changes its settings and keeps all other lines'
      throw new ConfigError([{ setting: FILE, problem }])
    }
    const { Interview } = await import('./interview.js')
    const { PromptEndedError } = await import('./prompt.js')
    const { writeEnvFile } = await import('../../config/env-file.js')
    try {
      const interview = new Interview(app, io, isEmbedded)
      const found = await interview.ask()
      const variables = interview.variables()
      writeEnvFile(path, variables, { isReplacing })
      const names = Object.keys(variables).filter((name) => variables[name] !== undefined)
      return {
        data: { file: FILE, variables: names, found },
        text: [
          ...(interview.isAsking ? [] : found),
          `${FILE} has ${names.join(', ')}; only you can read it.`,
          'Go on with `tracking-sync plan`, then `tracking-sync backfill`.',
        ],
      }
    } catch (thrown) {
      if (!(thrown instanceof PromptEndedError)) throw thrown
      io.printError(`${thrown.message}; nothing was written`)
      return exitCodeOfSignal('SIGINT')
    }
  },
})
