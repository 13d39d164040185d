import type { AlertDependencies } from '../alerts/raise-alerts.js'
import type { App } from '../app.js'
import { alertSettingsOf } from '../config/needed-settings.js'
import type { SettingName } from '../config/settings.js'
import type { Warehouse } from '../warehouse/connection/warehouse.js'

/** Settings of every command that sends alerts; the secret ones have no flag. */
export const ALERT_SETTINGS: readonly SettingName[] = [
  'alertSmtpFrom',
  'alertSmtpTo',
  'alertKinds',
  'alertDigestHour',
]

type Alerting = 'warehouse' | 'settings' | 'logger' | 'redact' | 'requestLimit'

/** What `raiseAlerts` needs beside what the caller knows of its process. */
export function alertDependenciesOf(
  { config, logger, redact }: App,
  warehouse: Warehouse,
): Pick<AlertDependencies, Alerting> {
  const requestLimit = config.rateLimitPerMinute
  return { warehouse, settings: alertSettingsOf(config), logger, redact, requestLimit }
}
