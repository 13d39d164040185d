'use strict'
// Run before anything else is loaded, by a Node.js that may be old: only syntax that all know.
const manifest = require('../package.json')
const needed = manifest.engines.node.replace('>=', '')
const numbersOf = function (version) {
  return version.split('.').map(Number)
}
const has = numbersOf(process.versions.node)
const wants = numbersOf(needed)

if (has[0] < wants[0] || (has[0] === wants[0] && has[1] < wants[1])) {
  process.stderr.write(
    `error: ${manifest.name} needs Node.js ${needed} or later, and this is ${process.versions.node} (${process.execPath}); see https://nodejs.org
`,
  )
  process.exit(2)
}
