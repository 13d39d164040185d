#!/usr/bin/env node
import { boundHeapGrowth, nameRuntime } from './commands/prepare-runtime.js'
import { runCli } from './commands/program.js'
import { completeOutput } from './commands/output/standard-output.js'

boundHeapGrowth()
nameRuntime()
process.exitCode = await runCli(process.argv, {
  stdout: completeOutput(process.stdout),
  stderr: process.stderr,
  cwd: () => process.cwd(),
  exit: (code) => process.exit(code),
  on: (event, listener) => process.on(event, listener),
  off: (event, listener) => process.off(event, listener),
})
