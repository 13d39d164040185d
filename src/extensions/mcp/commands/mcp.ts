import { once } from 'node:events'
import type { Readable } from 'node:stream'
import { EXIT_CODES } from '../../../base/exit-code.js'
import { declare, flag } from '../../../commands/declare-command.js'

export const mcp = declare({
  name: 'mcp',
  help:
    'Answer programs that speak the Model Context Protocol, on standard input and output, until ' +
    'it closes. Reads only, as the login of TRACKING_READER_URL, or a reader or customer.',
  json: false,
  takes: {
    isSqlOn: flag('--sql', 'Also offer the tool `sql`, which answers a SELECT statement.'),
  },
  run: async (app, { isSqlOn }, io) => {
    const { StdioServerTransport, serveStdio } = await import('@modelcontextprotocol/server/stdio')
    const { SchemaNames } = await import('../../../warehouse/connection/schema-names.js')
    const { prepareServer } = await import('../create-server.js')
    const { createReaderSession } = await import('../reader-session.js')
    const { logger, signal, config, programVersion, redact } = app
    const create = await prepareServer({
      names: new SchemaNames(config.schema),
      isSqlOn,
      programVersion,
      logger,
      redact,
    })
    const session = createReaderSession(app)
    const { stdin, stdout } = io.process
    if (stdin === undefined) return EXIT_CODES.complete
    const ended = Promise.race([once(stdin, 'close'), once(stdin, 'end'), once(stdout, 'close')])
    const stopped = signal.aborted ? Promise.resolve() : once(signal, 'abort')
    const serving = serveStdio(() => create({ session }), {
      transport: new StdioServerTransport(stdin as unknown as Readable, stdout),
      onerror: (error) => {
        logger.warn('the client sent something unreadable', { error })
      },
    })
    await Promise.race([ended, stopped])
    await serving.close()
    return EXIT_CODES.complete
  },
})
