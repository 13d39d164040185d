import { createHash, createHmac, pbkdf2Sync, randomBytes } from 'node:crypto'
import pg from 'pg'
import { WarehouseSchemaError } from '../../base/errors.js'

/** The setting of an address, as libpq has it, by which nothing but SCRAM is answered. */
export const REQUIRE_SCRAM = 'require_auth=scram-sha-256'

/** The client for an address: one that insists on SCRAM where the address does. */
export function clientClassOf(url: string): typeof AddressClient {
  if (!URL.canParse(url)) return AddressClient
  return new URL(url).search.slice(1).split('&').includes(REQUIRE_SCRAM)
    ? ScramClient
    : AddressClient
}

interface Parameters {
  port: number
  database: string | undefined
  readonly user: string | undefined
}

/**
 * Connects as the address says. The driver takes what an address leaves out from a dozen variables
 * such as PGSSLMODE, PGOPTIONS and PGPORT, which are meant for another database. Only the login may
 * come from there: PGUSER, PGPASSWORD or a password file.
 */
export class AddressClient extends pg.Client {
  constructor({ connectionString = '', ...config }: pg.ClientConfig = {}) {
    super({
      ssl: false,
      sslnegotiation: 'postgres',
      ...config,
      connectionString,
    })
    // As the driver reads an address with the host in its query.
    const { port, pathname, searchParams } = new URL(
      connectionString.replace('@/', '@localhost/'),
      'postgres://base',
    )
    const { connectionParameters: parameters } = this as unknown as {
      readonly connectionParameters: Parameters
    }
    if (port === '' && !searchParams.has('port')) parameters.port = STANDARD_PORT
    if (pathname.length < 2) parameters.database = parameters.user
    Object.assign(parameters, {
      options: searchParams.get('options') ?? undefined,
      client_encoding: searchParams.get('client_encoding') ?? '',
      replication: searchParams.get('replication') ?? undefined,
      binary: false,
    })
    Object.assign(this, { port: parameters.port, database: parameters.database })
  }
}

const STANDARD_PORT = 5432

/**
 * Proves that it knows the password without showing it, and goes on only when the server has proved
 * that it knows it too (SCRAM does both). A program that listens in the place of the
 * server learns nothing.
 */
export class ScramClient extends AddressClient {
  constructor(config?: pg.ClientConfig) {
    super(config)
    const { connection } = this
    const refuse = (): void => {
      // Messages in the same packet must not count as a session.
      connection.removeAllListeners('readyForQuery')
      connection.emit('error', notProved())
      connection.stream.destroy()
    }
    // The driver's answer where the password itself is asked for, in clear or with MD5.
    Object.assign(connection, { password: refuse })
    connection.on('authenticationOk', () => {
      // The driver forgets the exchange when the server's signature was right.
      const { saslSession } = this as { readonly saslSession?: unknown }
      if (saslSession !== null) refuse()
    })
  }
}

const ITERATIONS = 4096

/**
 * The verifier that PostgreSQL stores of a password, so that the password is in no statement and no
 * log.
 */
export function scramVerifier(password: string): string {
  const salt = randomBytes(16)
  const salted = pbkdf2Sync(password.normalize('NFKC'), salt, ITERATIONS, 32, 'sha256')
  const sign = (text: string): Buffer => createHmac('sha256', salted).update(text).digest()
  const stored = createHash('sha256').update(sign('Client Key')).digest('base64')
  const server = sign('Server Key').toString('base64')
  return `SCRAM-SHA-256$${ITERATIONS}:${salt.toString('base64')}$${stored}:${server}`
}

function notProved(): WarehouseSchemaError {
  return new WarehouseSchemaError(
    'the server at the address of the database did not prove that it is ours (SCRAM), so no ' +
      'password was sent; stop the program that took its port, or try again',
  )
}
