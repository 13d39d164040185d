// Writes the pages that follow from the program: settings with their example file, exit codes,
// commands, metrics and the dashboard for Grafana. `npm run docs` builds the program first and
// writes the data dictionary as well.
import { readFileSync, writeFileSync } from 'node:fs'
import { z } from 'zod'
import * as exitCodes from '../dist/base/exit-code.js'
import { describeProgram, runCli } from '../dist/commands/program.js'
import { isOfAccount } from '../dist/config/accounts.js'
import { readPresets } from '../dist/config/presets.js'
import { describeSettings } from '../dist/config/settings.js'
import { settingsOf } from '../dist/extension.js'
import { extensions } from '../dist/extensions.js'
import { ACCOUNT_METRICS } from '../dist/extensions/accounts/serve/account-metrics.js'
import {
  PROCESS_METRICS,
  RECEIVER_METRICS,
  WAREHOUSE_METRICS,
} from '../dist/extensions/metrics/metrics.js'
import { readShippedQueries } from '../dist/extensions/answers/questions/shipped-queries.js'
import { SUBJECTS } from '../dist/extensions/answers/questions/subjects.js'
import { SchemaNames } from '../dist/warehouse/connection/schema-names.js'
import { manPage } from './documents/man-page.js'
import { performanceChart, withTable } from './documents/performance-page.js'
import { questionsPage } from './documents/questions-page.js'
import { FIGURES } from '../bench/figures.js'
import { grafanaDashboard } from './documents/grafana-dashboard.js'
import {
  commandsPage,
  configSchema,
  exampleConfig,
  exitCodesPage,
  fakeProcess,
  metricsPage,
  settingsPage,
} from './documents/pages.js'

const allSettings = describeSettings(await settingsOf(extensions))

const metrics = {
  ...PROCESS_METRICS,
  ...RECEIVER_METRICS,
  ...WAREHOUSE_METRICS,
  ...ACCOUNT_METRICS,
}

writeFileSync('config/tracking-sync.example.json', exampleConfig(allSettings))
writeFileSync(
  'config/tracking-sync.schema.json',
  configSchema(allSettings, z.toJSONSchema, isOfAccount),
)
writeFileSync(
  'man/tracking-sync.1',
  manPage(await describeProgram(fakeProcess()), allSettings, exitCodes),
)
writeFileSync('docs/settings.md', settingsPage(allSettings, readPresets()))
writeFileSync(
  'docs/questions.md',
  questionsPage(await readShippedQueries(new SchemaNames('tracking')), SUBJECTS),
)
writeFileSync('docs/exit-codes.md', exitCodesPage(exitCodes))
writeFileSync('docs/commands.md', await commandsPage(runCli))
writeFileSync(
  'docs/metrics.md',
  metricsPage(metrics, readFileSync('config/prometheus-rules.yml', 'utf8')),
)
writeFileSync('config/grafana-dashboard.json', grafanaDashboard())

const kept = JSON.parse(readFileSync('bench/kept-figures.json', 'utf8'))
const performance = readFileSync('docs/performance.md', 'utf8')
writeFileSync('docs/performance.md', withTable(performance, FIGURES, kept))
writeFileSync('docs/images/performance.svg', performanceChart(FIGURES, kept))
