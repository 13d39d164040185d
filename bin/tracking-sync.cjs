#!/usr/bin/env node
'use strict'
require('./require-node.cjs')
const { existsSync } = require('node:fs')
const { dirname, join } = require('node:path')

if (existsSync(join(__dirname, '../dist/program/cli.js'))) {
  void import('../dist/program/cli.js')
} else {
  process.stderr.write(
    `error: tracking-sync is not built: run "npm ci && npm run build" in ${dirname(__dirname)}\n`,
  )
  process.exitCode = 2
}
