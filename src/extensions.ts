import type { CommandGroup, ExtendCommand } from './commands/declare-command.js'
import type { Extension } from './extension.js'
import { accounts } from './extensions/accounts/accounts-extension.js'
import { alertsExtension } from './extensions/alerts/alerts-extension.js'
import { dashboardExtension } from './extensions/dashboard/dashboard-extension.js'
import { answersExtension } from './extensions/answers/answers-extension.js'
import { distribute } from './extensions/accounts/commands/distribute.js'
import { forEachAccount } from './extensions/accounts/commands/for-each-account.js'
import { alerts, sendingCommands } from './extensions/alerts/commands/alerts.js'
import { evidence } from './extensions/answers/commands/evidence.js'
import { invoices } from './extensions/answers/commands/invoices.js'
import { query } from './extensions/answers/commands/query.js'
import { rules } from './extensions/answers/commands/rules.js'
import { storeViews } from './extensions/answers/commands/store-views-command.js'
import { dashboard } from './extensions/dashboard/commands/dashboard.js'
import { tokens } from './extensions/doors/commands/tokens.js'
import { answeringCommands, doorsExtension } from './extensions/doors/doors-extension.js'
import { check } from './extensions/doctor/commands/check.js'
import { customFields } from './extensions/doctor/commands/custom-fields.js'
import { plan } from './extensions/doctor/commands/plan.js'
import { quarantine } from './extensions/doctor/commands/quarantine.js'
import { verify } from './extensions/doctor/commands/verify.js'
import { init } from './extensions/setup/init/init.js'
import { webhooks } from './extensions/setup/webhooks/webhooks.js'
import { database } from './extensions/embedded-postgres/commands/database.js'
import { embeddedPostgres } from './extensions/embedded-postgres/embedded-postgres-extension.js'
import { exportGroup } from './extensions/lake/commands/export.js'
import { mcp } from './extensions/mcp/commands/mcp.js'
import { metricsExtension } from './extensions/metrics/metrics-extension.js'
import { demo } from './extensions/simulator/commands/demo/demo.js'
import { simulate } from './extensions/simulator/commands/simulate.js'

/** The extensions; without them the program still loads and serves. */
export const extensions: readonly Extension[] = [
  accounts,
  alertsExtension,
  answersExtension,
  dashboardExtension,
  doorsExtension,
  embeddedPostgres,
  metricsExtension,
]

/** The commands as `--help` lists them; those of the core are named. */
export const commandGroups: readonly CommandGroup[] = [
  ['Try:', [demo, simulate]],
  ['Load:', [init, plan, 'backfill', 'sync']],
  ['Ask:', [query, mcp, rules, invoices, evidence, exportGroup]],
  ['Serve:', ['serve', dashboard, webhooks, tokens, alerts]],
  ['Look after:', ['status', check, verify, quarantine, customFields, 'config']],
  ['Database:', ['migrate', database([storeViews, distribute])]],
]

/** Names of 0.1.0 with the group of the command that they still run, until 0.3.0. */
export const formerCommands: ReadonlyMap<string, string> = new Map(
  Object.entries({ distribute: 'database', replay: 'webhooks', 'store-views': 'database' }),
)

/** Additions of extensions to commands of the core, by name. */
export const commandExtensions: readonly Readonly<Record<string, ExtendCommand>>[] = [
  forEachAccount,
  sendingCommands,
  answeringCommands,
]
