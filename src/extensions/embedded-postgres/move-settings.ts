import * as kind from '../../config/kinds.js'
import type { Settings, SettingsGroup } from '../../config/setting.js'

const settings = {
  moveToUrl: {
    variable: 'TRACKING_MOVE_TO_URL',
    isSecret: true,
    isOfProcess: true,
    kind: kind.databaseUrl.optional(),
    meaning:
      'PostgreSQL that `database move-to` moves the embedded warehouse to, ' +
      'where its address holds a password.',
  },
} as const satisfies Settings

export const moveSettings: SettingsGroup<typeof settings> = {
  settings,
  secrets: ({ moveToUrl }) => kind.passwordsIn(moveToUrl),
}
