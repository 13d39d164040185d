import type { Simulator } from '../../src/extensions/simulator/server.js'

/**
 * Holds and charges the oldest container for good: in a small account seldom one is, and what
 * nobody sends cannot be compared.
 */
export function holdOldest({ edits, world, clock }: Simulator): void {
  const at = clock.now()
  const [oldest] = world.page('container', world.count('container', at) - 1, 1, at)
  if (oldest === undefined) return
  edits.change('container', oldest.id, {
    holds_at_pod_terminal: [{ name: 'freight', status: 'hold', description: null }],
    fees_at_pod_terminal: [{ type: 'demurrage', amount: 212.5, currency_code: 'USD' }],
  })
}
