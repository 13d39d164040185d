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
    if (!configWith<typeof doorSettings>(place.config).questions) return () => ({})
    const routes = await openQuestionRoutes(place)
    return () => routes
  },
}

/** `serve --questions`. */
export const answeringCommands: Readonly<Record<string, ExtendCommand>> = {
  serve: (declaration) => ({
    ...declaration,
    ofExtension: [
      ...(declaration.ofExtension ?? []),
      ...(['questions'] satisfies (keyof (typeof doorSettings)['settings'])[]),
    ],
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
  if (!isForMany || !configWith<typeof doorSettings>(config).questions) return
  const problem = 'is for one account; run `tracking-sync dashboard --account` beside --all'
  throw new ConfigError([{ setting: 'TRACKING_QUESTIONS', problem }])
}
