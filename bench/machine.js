import { cpus, loadavg, totalmem } from 'node:os'

let postgresql

/** `client` is connected to the server that is measured. */
export async function noteServer(client) {
  const { rows } = await client.query('show server_version')
  postgresql ??= rows[0].server_version
}

/** What it was measured on: without that a figure is none. */
export function describeMachine() {
  const cores = cpus()
  return {
    cores: cores.length,
    processor: cores[0]?.model ?? 'unknown',
    memoryGiB: Math.round(totalmem() / 2 ** 30),
    node: process.versions.node,
    postgresql: postgresql ?? 'not used',
    load: Math.round(loadavg()[0] * 10) / 10,
  }
}
