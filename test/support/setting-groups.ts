import { settingsOf } from '../../src/extension.js'
import { extensions } from '../../src/extensions.js'

/** The settings of all extensions. */
export const SETTING_GROUPS = await settingsOf(extensions)
