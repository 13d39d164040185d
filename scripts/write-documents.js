// Writes the pages that follow from the program: settings with their example file, exit codes and
// commands. `npm run docs` builds the program first and writes the data dictionary as well.
import { writeFileSync } from 'node:fs'
import * as exitCodes from '../dist/base/exit-code.js'
import { runCli } from '../dist/commands/program.js'
import { settingDescriptions } from '../dist/config/settings.js'
import { commandsPage, exampleConfig, exitCodesPage, settingsPage } from './documents/pages.js'

writeFileSync('config/tracking-sync.example.json', exampleConfig(settingDescriptions))
writeFileSync('docs/settings.md', settingsPage(settingDescriptions))
writeFileSync('docs/exit-codes.md', exitCodesPage(exitCodes))
writeFileSync('docs/commands.md', await commandsPage(runCli))
