import { WarehouseSchemaError } from '../../../base/errors.js'
import { declare } from '../../../commands/declare-command.js'

/** For cron; `serve` has a job that does it. */
export const storeViews = declare({
  name: 'store-views',
  help:
    'Store the slowest views again (schema <schema>_stored), for reports that read all of them. ' +
    'The first time the owner of the schemas makes them. Skips what did not change. For cron, if ' +
    'no serve runs.',
  settings: ['migrate'],
  json: 'Print what was stored as JSON.',
  run: async (app) => {
    const { storeViews: store } = await import('../store-views.js')
    const { logger, signal } = app
    const warehouse = await app.openWarehouse({ isWriting: true, isForSubscriber: true })
    const { isDistributed } = await import('../../accounts/distribute/citus.js')
    if (await isDistributed(warehouse)) {
      throw new WarehouseSchemaError(
        'the warehouse is distributed, so its views are not stored: stored rows would be on ' +
          'another node than their sources; read the views themselves',
      )
    }
    const stored = await store(warehouse, { logger, signal })
    const rows = stored.map(({ name, rows: count, tookMs }) => [name, count, tookMs])
    return {
      data: stored,
      text:
        rows.length === 0
          ? ['No view is out of date, or another process is storing them.']
          : [{ columns: ['stored view', 'rows', 'took ms'], rows }],
    }
  },
})
