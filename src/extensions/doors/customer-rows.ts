import { ConfigError } from '../../base/errors.js'
import type { Session } from '../../warehouse/connection/warehouse.js'
import { isOpenToCustomers } from '../accounts/customers/customer-access.js'
import { findClosedQuestions, findCustomerRole } from '../accounts/customers/customer-role.js'

/**
 * The role that this login takes to read rows of this customer alone. Throws ConfigError without
 * one, or if a question reads what is closed to customers.
 */
export async function requireCustomerRole(
  session: Pick<Session, 'names' | 'query'>,
  customers: readonly string[],
  questions: readonly string[],
): Promise<string> {
  const found = await findCustomerRole(session, customers)
  if (found === undefined) {
    if (!(await isOpenToCustomers(session))) {
      throw refuse(
        '--customer',
        'needs a warehouse that is open to customers: run `tracking-sync migrate --customers`',
      )
    }
    throw refuse(
      '--customer',
      `is ${customers.join(' and ')}, and no role reads the rows of just that; the owner makes ` +
        'one as docs/security.md says under "Customer access"',
    )
  }
  const { role, isOurs } = found
  if (!isOurs) {
    throw refuse(
      '--customer',
      `is read by the role ${role}, which the login of DATABASE_URL may not take; its owner runs: ` +
        'grant <role> to <login> with inherit false, set true (docs/security.md)',
    )
  }
  const closed = await findClosedQuestions(session, role, questions)
  if (closed.length === 0) return role
  throw refuse(
    '--questions',
    `names ${closed.join(', ')}, which reads what is closed to customers; leave it out`,
  )
}

function refuse(setting: string, problem: string): ConfigError {
  return new ConfigError([{ setting, problem }])
}
