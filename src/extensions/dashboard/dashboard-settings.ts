import { readTextFile } from '../../base/text-file.js'
import * as kind from '../../config/kinds.js'
import { configWith } from '../../config/needed-settings.js'
import type { SettingsGroup } from '../../config/setting.js'
import type { Config } from '../../config/settings.js'

export const dashboardSettings = {
  settings: {
    pageTitle: {
      variable: 'TRACKING_PAGE_TITLE',
      kind: kind
        .matching(/^[^\p{Cc}]{1,60}$/u, 'must be a name of at most 60 characters')
        .optional(),
      meaning:
        'Name at the head of the dashboard. Default: the name of the account, if it has one.',
    },
    pageLogo: {
      variable: 'TRACKING_PAGE_LOGO',
      kind: kind.matching(/\.svg$/i, 'must be the path of an .svg file').optional(),
      meaning: 'Picture before that name: the path of an SVG file. Default: none.',
    },
  },
} as const satisfies SettingsGroup

/** The head of each page. */
export interface Brand {
  readonly title: string | undefined
  /** An SVG. */
  readonly logo: string | undefined
}

export function readBrand(config: Config): Brand {
  const { pageTitle, pageLogo, account } = configWith<typeof dashboardSettings>(config)
  const logo =
    pageLogo === undefined ? undefined : readTextFile(pageLogo, { name: 'TRACKING_PAGE_LOGO' })
  return { title: pageTitle ?? account, logo }
}
