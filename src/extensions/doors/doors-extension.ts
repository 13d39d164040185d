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
    run: async (app, flags, io) => {
      const isForMany = flags.allAccounts === true || flags.worker === true
      if (!isForMany || !configWith<typeof doorSettings>(app.config).questions) {
        return (await declaration.run(app, flags, io)) as number
      }
      const problem = 'is for one account; run `tracking-sync dashboard --account` beside --all'
      throw new ConfigError([{ setting: 'TRACKING_QUESTIONS', problem }])
    },
  }),
}
