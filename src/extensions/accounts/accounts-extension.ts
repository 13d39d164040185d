import type { Extension } from '../../extension.js'

/** Many accounts, each whole on a node of Citus, and customers that read their own rows. */
export const accounts: Extension = {
  name: 'accounts',
  refuse: async (warehouse) => {
    const { isDistributed } = await import('./distribute/citus.js')
    await isDistributed(warehouse)
  },
  // New tables of a distributed warehouse go to its nodes.
  onMigrated: async (warehouse) => {
    const { distributeAdded } = await import('./distribute/distribute-warehouse.js')
    await distributeAdded(warehouse)
  },
  renewAccess: async (session) => {
    const { renewCustomerAccess } = await import('./customers/customer-access.js')
    await renewCustomerAccess(session)
  },
  check: {
    line: 'nodes',
    describe: async (warehouse) => {
      const { describeDistribution } = await import('./distribute/describe-distribution.js')
      return describeDistribution(warehouse)
    },
  },
}
