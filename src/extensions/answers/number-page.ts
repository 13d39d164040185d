import { configWith } from '../../config/needed-settings.js'
import type { Config } from '../../config/settings.js'
import type { answerSettings } from './answer-settings.js'

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
