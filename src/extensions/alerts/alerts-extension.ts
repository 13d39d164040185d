import type { Extension, Observed } from '../../extension.js'
import { alertSettingsOf, channelsOf } from './alert-channels.js'

/** A look costs milliseconds. */
const ALERTS_CRON = '* * * * *'

/** Tells people about problems, and a monitor about the end of runs. */
export const alertsExtension: Extension = {
  name: 'alerts',
  settings: async () => (await import('./alert-settings.js')).alertSettings,
  observer: {
    job: {
      name: 'alerts',
      isAtStart: true,
      cronOf: (config) => (channelsOf(alertSettingsOf(config)).length > 0 ? ALERTS_CRON : 'off'),
    },
    runJob: (observed) => raise(observed, false),
    onRunStored: (observed) => raise(observed, true),
    onRunEnd: async ({ config, logger }, isComplete) => {
      const { heartbeat } = alertSettingsOf(config)
      if (heartbeat === undefined) return
      const { sendHeartbeat } = await import('./heartbeat.js')
      await sendHeartbeat(heartbeat, isComplete, logger)
    },
    tidyUp: async (warehouse, logger) => {
      const { forgetAlerts } = await import('./stored-alerts.js')
      const alerts = await forgetAlerts(warehouse)
      if (alerts > 0) logger.info('alerts that were long over were deleted', { alerts })
    },
  },
}

async function raise(observed: Observed, isAfterRun: boolean): Promise<void> {
  const { raiseAlerts } = await import('./raise-alerts.js')
  const { config } = observed
  await raiseAlerts({
    ...observed,
    settings: alertSettingsOf(config),
    requestLimit: config.rateLimitPerMinute,
    isAfterRun,
  })
}
