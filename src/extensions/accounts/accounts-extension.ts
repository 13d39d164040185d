import type { Extension } from '../../extension.js'

/** Many accounts, and each whole on a node of Citus. */
export const accounts: Extension = {
  name: 'accounts',
  // New tables of a distributed warehouse go to its nodes.
  onMigrated: async (warehouse) => {
    const { distributeAdded } = await import('./distribute/distribute-warehouse.js')
    await distributeAdded(warehouse)
  },
  check: {
    line: 'nodes',
    describe: async (warehouse) => {
      const { describeDistribution } = await import('./distribute/describe-distribution.js')
      return describeDistribution(warehouse)
    },
  },
}
