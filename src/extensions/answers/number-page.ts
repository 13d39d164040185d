import { configWith } from '../../config/needed-settings.js'
import * as kind from '../../config/kinds.js'
import type { SettingsGroup } from '../../config/setting.js'
import type { Config } from '../../config/settings.js'

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

/** The address of the page about a number; undefined without a number. */
export type NumberPage = (number: unknown) => string | undefined

/** The page of the setting, or of the preset; undefined without either. */
export function numberPageOf(config: Config): NumberPage | undefined {
  const { numberPage = config.preset.numberPage } = configWith<typeof answerSettings>(config)
  if (numberPage === undefined || numberPage === 'off') return undefined
  return (number) =>
    typeof number === 'string' && number !== ''
      ? numberPage.replace('{number}', () => encodeURIComponent(number))
      : undefined
}
