import * as kind from '../../config/kinds.js'
import type { SettingsGroup } from '../../config/setting.js'

export const answerSettings = {
  settings: {
    numberPage: {
      variable: 'TRACKING_NUMBER_PAGE',
      kind: kind.numberPage.optional(),
      meaning:
        'Address of a page about a container or bill of lading, with {number} in place of its ' +
        'number: answers, alerts and the dashboard link to it. off: no links. Default: the page ' +
        'of the service, if its preset names one.',
    },
  },
} as const satisfies SettingsGroup
