import type { App } from '../../app.js'
import { ConfigError } from '../../base/errors.js'
import type { ExtendCommand } from '../../commands/declare-command.js'
import { configWith } from '../../config/needed-settings.js'
import type { Extension } from '../../extension.js'
import type { doorSettings } from './door-settings.js'
import { openQuestionRoutes } from './open-question-routes.js'

/** Questions for other programs over HTTP. `serve` answers them if a setting says so. */
export const doorsExtension: Extension = {
  name: 'doors',
  settings: async () => (await import('./door-settings.js')).doorSettings,
  pages: async (place) => {
    const { questions, mcp } = configWith<typeof doorSettings>(place.config)
    if (!questions && !mcp) return () => ({})
    const routes = await openQuestionRoutes(place, { questions, mcp })
    return () => routes
  },
}

/** The settings, each with its variable and the command for one account beside `serve --all`. */
const DOORS = {
  questions: ['TRACKING_QUESTIONS', 'dashboard'],
  mcp: ['TRACKING_MCP', 'mcp'],
} as const satisfies Record<keyof (typeof doorSettings)['settings'], unknown>

/** `serve --questions` and `serve --mcp`. */
export const answeringCommands: Readonly<Record<string, ExtendCommand>> = {
  serve: (declaration) => ({
    ...declaration,
    ofExtension: [...(declaration.ofExtension ?? []), ...Object.keys(DOORS)],
    run: (app, flags, io) => {
      refuseMany(app, flags)
      return declaration.run(app, flags, io)
    },
  }),
}

function refuseMany(
  { config }: App,
  { allAccounts, worker }: Readonly<Record<string, unknown>>,
): void {
  const isForMany = allAccounts === true || worker === true
  const { questions, mcp } = configWith<typeof doorSettings>(config)
  const asked = [...(questions ? [DOORS.questions] : []), ...(mcp ? [DOORS.mcp] : [])]
  if (!isForMany || asked.length === 0) return
  throw new ConfigError(
    asked.map(([setting, command]) => ({
      setting,
      problem: `is for one account; run \`tracking-sync ${command} --account\` beside --all`,
    })),
  )
}
