// Writes config/tracking-sync.example.json and the table of settings in README.md from
// src/config/settings.ts.
import { readFileSync, writeFileSync } from 'node:fs'
import { exampleConfig, settingsTable } from '../dist/config/describe.js'

writeFileSync('config/tracking-sync.example.json', exampleConfig())
const readme = readFileSync('README.md', 'utf8')
const table = `<!-- settings -->\n${settingsTable()}\n<!-- /settings -->`
writeFileSync(
  'README.md',
  readme.replace(/<!-- settings -->[\s\S]*<!-- \/settings -->/, () => table),
)
