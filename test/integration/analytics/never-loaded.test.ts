import { expect, it } from 'vitest'
import { explainEmpty } from '../../../src/extensions/answers/ask/explain-answer.js'
import { OPTIONS } from '../../../src/extensions/answers/ask/ask-words.js'
import type { ShippedQuery } from '../../../src/extensions/answers/questions/shipped-queries.js'
import { useAnalyticsScene } from '../../support/analytics-scene.js'
import { insertKnown } from '../../support/insert-known.js'

const scene = useAnalyticsScene()

const question = { name: 'pickups', needs: 'a container', parameters: [] } as Pick<
  ShippedQuery,
  'name' | 'needs' | 'parameters'
> as ShippedQuery

it('an answer without rows says that nothing was loaded, as long as that is so', async () => {
  const reasons = async () => explainEmpty(scene.warehouse, question, {}, OPTIONS)
  expect(await reasons()).toEqual([
    'no rows: nothing was loaded into this schema; run `tracking-sync backfill`',
  ])
  await insertKnown(scene, 'containers', [{ container_id: 'c1', number: 'c1' }])
  expect(await reasons()).toEqual(['no rows: pickups needs a container'])
})
