#!/usr/bin/env node
import { completeOutput } from './commands/command-io.js'
import { boundHeapGrowth, prepareDriver, runCli } from './commands/program.js'

boundHeapGrowth()
prepareDriver()
process.exitCode = await runCli(process.argv, {
  stdout: completeOutput(process.stdout),
  stderr: process.stderr,
  // Opened only by a command that asks something.
  get stdin() {
    return process.stdin
  },
  cwd: () => process.cwd(),
  exit: (code) => process.exit(code),
  on: (event, listener) => process.on(event, listener),
  off: (event, listener) => process.off(event, listener),
})
