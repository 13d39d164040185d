#!/usr/bin/env node
import { runCli } from './commands/program.js'

process.exitCode = await runCli(process.argv, process)
