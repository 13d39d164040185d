import type { Extension } from '../../extension.js'

/** Once an hour, apart from reconciling: only from 100,000 containers on, and only what changed. */
const STORE_VIEWS_CRON = '37 * * * *'

/** Questions and their answers; `serve` stores the slowest views. */
export const answersExtension: Extension = {
  name: 'answers',
  settings: async () => (await import('./answer-settings.js')).answerSettings,
  storedViews: async (views) => {
    const { storedViewsOf } = await import('./stored-views.js')
    return storedViewsOf(views)
  },
  observer: {
    job: { name: 'storing of views', cronOf: () => STORE_VIEWS_CRON },
    runJob: async ({ warehouse, logger, signal }) => {
      const { LARGE_ACCOUNT_CONTAINERS, storeViews } = await import('./store-views.js')
      await storeViews(warehouse, { logger, signal, fromContainers: LARGE_ACCOUNT_CONTAINERS })
    },
  },
}
