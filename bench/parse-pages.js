/**
 * A floor: the recorded pages of a folder, each parsed as it stands. Prints the processor time of
 * that; reading the files does not count.
 */
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

const directory = process.argv[2]
let used = 0
let bytes = 0
let records = 0
for (const name of readdirSync(directory).toSorted()) {
  const body = readFileSync(join(directory, name))
  bytes += body.length
  const before = process.cpuUsage()
  const { data = [], included = [] } = JSON.parse(body.toString('utf8'))
  const { user, system } = process.cpuUsage(before)
  used += user + system
  records += [data].flat().length + included.length
}
process.stdout.write(JSON.stringify({ cpuMs: used / 1000, bytes, records }))
