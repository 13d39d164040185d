import * as kind from '../../config/kinds.js'
import type { SettingsGroup } from '../../config/setting.js'

export const doorSettings = {
  settings: {
    questions: {
      variable: 'TRACKING_QUESTIONS',
      isOfProcess: true,
      kind: kind.flag.default(false),
      meaning:
        'Have serve answer the questions over HTTP too, beside the dashboard and /metrics: ' +
        'to this machine, and to others with a token (`tokens create`).',
    },
  },
} as const satisfies SettingsGroup
