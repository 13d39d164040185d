/**
 * `npm run docs:reliability`: writes docs/reliability.md from test/catalogue and the tags of the
 * tests.
 */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { readCatalogue } from './reliability/catalogue.js'
import { renderPage } from './reliability/page.js'
import { readTaggedTests } from './reliability/test-tags.js'

const root = fileURLToPath(new URL('..', import.meta.url))
const page = renderPage(readCatalogue(root), readTaggedTests(root))
writeFileSync(join(root, 'docs/reliability.md'), page)
