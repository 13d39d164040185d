import { command } from './declare-command.js'
import type { Part } from './output/print-table.js'

export const status = command({
  name: 'status',
  help:
    'Show what needs attention and how fresh the warehouse is: ' +
    'rows, last runs, queues, quarantine, request budget, who is writing.',
  run: async (app) => {
    const { describeStatus, findAlerts, sentencesOf } = await import('../status/describe-status.js')
    const { readStatus } = await import('../status/read-status.js')
    const { slotsOf } = await import('../status/read-vitals.js')
    const read = await readStatus(await app.openWarehouse())
    const alerts = sentencesOf(
      findAlerts(read, {
        slots: slotsOf(app.config),
        isServing: false,
        freeDiskBytes: await app.freeDiskBytes(),
      }),
    )
    const sections = describeStatus(read, app.config.rateLimitPerMinute).flatMap(
      ({ rows, columns, empty, note }): Part[][] => {
        if (rows.length === 0) return empty === '' ? [] : [[empty]]
        return [[{ columns, rows }, ...(note === undefined ? [] : [note])]]
      },
    )
    const parts = [
      ...(alerts.length > 0 ? [alerts.map((alert) => `ALERT: ${alert}`)] : []),
      ...sections,
    ]
    return {
      data: { alerts, ...read },
      text: parts.flatMap((lines, index) => (index === 0 ? lines : ['', ...lines])),
    }
  },
})
