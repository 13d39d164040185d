#!/usr/bin/env node
import { boundHeapGrowth } from './commands/bound-heap-growth.js'
import { runCli } from './commands/program.js'

boundHeapGrowth()
process.exitCode = await runCli(process.argv, process)
