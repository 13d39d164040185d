/**
 * What ten times the account costs: processor time of connector and database, and memory of the
 * connector, of a backfill and of the unchanged sync after it, at one size and at ten times that
 * size. Processor time is divided by the records that really came, which are not exactly ten times
 * as many.
 *
 *   node bench/growth.js [shipments of the smaller account, 3000 unless told]
 */
import { openDatabase, runBench } from './bench-world.js'
import { figure } from './figures.js'
import { measureAccount } from './measure-account.js'

const SMALLER = Number(process.argv[2] ?? 3000)

await runBench(async () => {
  const databaseUrl = await openDatabase()
  const smaller = await measureAccount(databaseUrl, 'smaller', SMALLER)
  const larger = await measureAccount(databaseUrl, 'larger', 10 * SMALLER)
  const growth = ({ name, of }) => (10 * of(larger[name])) / of(smaller[name])
  const cpu = (name) => growth({ name, of: ({ cpuMs, records }) => cpuMs / records })
  const note = `${smaller.backfill.records} and ${larger.backfill.records} records; without the start of the program`
  return {
    figures: [
      figure('B10 CPU', {
        value: cpu('backfill'),
        beside: { what: '× of the unchanged sync', value: cpu('sync') },
        ratio: cpu('backfill') / 10,
        note,
      }),
      figure('B10 memory', {
        value: larger.backfill.peakMiB / smaller.backfill.peakMiB,
        beside: { what: 'MiB at the smaller size', value: smaller.backfill.peakMiB },
        ratio: larger.backfill.peakMiB / smaller.backfill.peakMiB,
        note: `${larger.backfill.peakMiB} MiB at the larger size; in the sync ${smaller.sync.peakMiB} and ${larger.sync.peakMiB}`,
      }),
    ],
    accounts: [smaller, larger].map(({ backfill, sync }) => ({ backfill, sync })),
  }
})
