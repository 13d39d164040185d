/**
 * Two floors of reading: the recorded pages of a folder, each decoded and parsed as a whole, and
 * each split into its records, of which those without a letter beyond ASCII are parsed as text of
 * one byte a letter, which costs less. Prints the processor time and the seconds of both; reading
 * the files and unpacking do not count.
 */
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { splitJsonBytes } from '../dist/source/jsonapi/parse-json-bytes.js'

const WAYS = {
  whole: (body) => JSON.parse(body.toString('utf8')),
  split: (body) => {
    const document = splitJsonBytes(body)
    const parse = (records) => [records ?? []].flat().map(({ text }) => JSON.parse(text))
    return { data: parse(document.data), included: parse(document.included) }
  },
}

const directory = process.argv[2]
const names = readdirSync(directory).toSorted()
const found = {}
for (const [way, read] of Object.entries(WAYS)) {
  let cpuMs = 0
  let ms = 0
  let bytes = 0
  let records = 0
  for (const name of names) {
    const body = readFileSync(join(directory, name))
    const before = process.cpuUsage()
    const startedAt = performance.now()
    const { data = [], included = [] } = read(body)
    ms += performance.now() - startedAt
    const { user, system } = process.cpuUsage(before)
    cpuMs += (user + system) / 1000
    bytes += body.length
    records += [data].flat().length + included.length
  }
  found[way] = { cpuMs, seconds: ms / 1000, bytes, records }
}
process.stdout.write(JSON.stringify(found))
