import { afterAll, beforeAll } from 'vitest'
import { playHistories } from '../../support/corpus.js'
import { createTestWarehouse, type TestWarehouse } from '../../support/test-warehouse.js'
import { modelHistories, playModelHistory } from './model-history.js'

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
    runs: Number(process.env.MODEL_RUNS ?? 12),
    // Half a second each on a machine that does nothing else; four times that is still at work and
    // does not hang.
    mostMsPerRun: 2_000,
    play: (history) => playModelHistory(target.warehouse, history),
  },
)
