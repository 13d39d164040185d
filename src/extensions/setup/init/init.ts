import { resolve } from 'node:path'
import { exitCodeOfSignal } from '../../../base/exit-code.js'
import { declare, flag, SERVICE_ONLY } from '../../../commands/declare-command.js'

const FILE = '.env'

export const init = declare({
  name: 'init',
  isForAccount: false,
  help:
    'Ask for service, key, database and webhook, test each answer, and write .env. ' +
    'Tests values of flags and of the environment without asking for them. ' +
    'A second run changes only the settings that you answer and keeps every other line. ' +
    'Secrets come from the environment or from files, or are typed unseen.',
  settings: [...SERVICE_ONLY, 'webhookUrl'],
  json: 'Print the findings as JSON.',
  takes: {
    isEmbedded: flag('--embedded', 'Use the embedded database instead of DATABASE_URL.'),
  },
  run: async (app, { isEmbedded }, io) => {
    const path = resolve(io.process.cwd(), FILE)
    const { Interview } = await import('./interview.js')
    const { PromptEndedError } = await import('../prompt.js')
    const { updateEnvFile } = await import('../env-file.js')
    try {
      const interview = new Interview(app, io, isEmbedded)
      const found = await interview.ask()
      const changes = interview.changes()
      updateEnvFile(path, changes)
      const names = Object.keys(changes).filter((name) => changes[name] !== undefined)
      return {
        data: { file: FILE, variables: names, found },
        text: [
          ...(interview.isAsking ? [] : found),
          `${FILE} has ${names.join(', ') || 'its old settings'}; only you can read it.`,
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
