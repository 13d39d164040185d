import { readFile } from 'node:fs/promises'
import { expect, it } from 'vitest'
import { formatScale, scale } from '../../../bench/scale.js'

it('docs/scale.md shows the table of the model', async () => {
  const page = await readFile(new URL('../../../docs/scale.md', import.meta.url), 'utf8')
  expect(page).toContain(formatScale(scale()))
})
