/**
 * A command that uses the embedded database, as small as possible: starts it from the built program
 * in the first argument, prints one line of JSON, and stops it when its input ends or on SIGTERM.
 */
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'

const [distDirectory, optionsText] = process.argv.slice(-2)
const { startEmbeddedDatabase } = await import(
  pathToFileURL(join(distDirectory, 'extensions/embedded-postgres/embedded-database.js')).href
)

const logger = {
  debug: () => undefined,
  info: () => undefined,
  warn: () => undefined,
  error: () => undefined,
  child: () => logger,
}

try {
  const database = await startEmbeddedDatabase({ ...JSON.parse(optionsText), logger })
  const { url, isAdopted, dataDirectory } = database
  const stop = () => {
    process.stdin.destroy()
    process.removeAllListeners('SIGTERM')
    void database.stop()
  }
  process.once('SIGTERM', stop)
  process.stdin.once('end', stop).resume()
  // Last: the reader of this line may send the signal at once.
  process.stdout.write(`${JSON.stringify({ url, isAdopted, dataDirectory })}\n`)
} catch (error) {
  process.stdout.write(
    `${JSON.stringify({ error: { name: error.name, message: error.message } })}\n`,
  )
  process.exitCode = 1
}
