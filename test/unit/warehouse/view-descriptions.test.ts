import { expect, it } from 'vitest'
import { readDescription } from '../../../src/warehouse/schema/view-descriptions.js'

it.each([
  ['view: Boxes\ncolumns: known, added', 'added'],
  ['view: Boxes\ncolumns: known\nmeanings: { gone: Left. }', 'gone'],
])('a column or a meaning alone is named, with where to write it', async (text, name) => {
  await expect(readDescription(text, 'known: A box.')).rejects.toThrow(
    `"columns" or "meanings" lacks ${name} ("Boxes")`,
  )
})
