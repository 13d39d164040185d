import { afterAll, beforeAll } from 'vitest'
import { playHistories } from '../../support/corpus.js'
import { createTestWarehouse, type TestWarehouse } from '../../support/test-warehouse.js'
import { modelHistories, playModelHistory } from './model-history.js'
import { atScale } from '../../support/test-scale.js'

let target: TestWarehouse

beforeAll(async () => {
  target = await createTestWarehouse()
})

afterAll(() => target.drop())

playHistories(
  'any history of changes, runs, crashes and faults ends equal to the quiet source, and is never untrue on the way',
  {
    name: 'model',
    tags: ['I1', 'I2', 'I4', 'I7', 'I8', 'I9', 'I16', 'I17', 'P11'],
    histories: modelHistories,
    // `npm run test:long -- model` plays thousands.
    runs: atScale(12, 5_000),
    play: (history) => playModelHistory(target.warehouse, history),
  },
)
