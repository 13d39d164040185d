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
    mcp: {
      variable: 'TRACKING_MCP',
      isOfProcess: true,
      kind: kind.flag.default(false),
      meaning:
        'Have serve answer programs that speak the Model Context Protocol over HTTP too, at /mcp ' +
        'beside the dashboard: this machine, and others with a token (`tokens create`).',
    },
  },
} as const satisfies SettingsGroup
