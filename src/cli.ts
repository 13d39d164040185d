#!/usr/bin/env node
import { boundHeapGrowth } from './commands/bound-heap-growth.js'
import { nameRuntime } from './commands/name-runtime.js'
import { runCli } from './commands/program.js'

boundHeapGrowth()
nameRuntime()
process.exitCode = await runCli(process.argv, process)
