import type { ApiAnswer } from '../source/client/client.js'
import type { PlainReadOptions } from '../source/client/endpoints.js'
import { ApiAuthError, ApiContractError } from '../base/errors.js'
import type { Document, ResourceIdentifier } from '../source/jsonapi/document.js'
import { resourceOfType } from '../source/records/index.js'
import { readRecords, type Intake } from './intake.js'
import type { Reading } from './run.js'

/**
 * Reads one record by type and id: one request, counted with its stream. The answer may hold
 * another record. Throws ApiNotFoundError when it is gone, and ApiContractError for a type that the
 * interface does not let us read by id.
 */
export async function readById(
  run: Reading,
  { type, id }: ResourceIdentifier,
  completeTypes: ReadonlySet<string> = new Set(),
): Promise<{ readonly document: Document; readonly intake: Intake }> {
  const { stream } = resourceOfType(type)
  const { document, observedAt } = await ask(run, { type, id })
  const source = `/${stream}/${id}`
  return { document, intake: readRecords(document, { stream, source, observedAt, completeTypes }) }
}

async function ask(run: Reading, { type, id }: ResourceIdentifier): Promise<ApiAnswer> {
  const { path, stream } = resourceOfType(type)
  if (path === undefined) {
    throw new ApiContractError(`records of type ${type} cannot be read by id`, {
      pointer: '/type',
    })
  }
  const counter = run.notes.ledger.counter(stream)
  const options = { signal: run.source.signal, counter, purpose: run.source.purpose }
  return type === 'vessel'
    ? readVessel(run, id, options)
    : run.source.service.getRecord(path, id, options)
}

/**
 * With its positions where they are wanted. An account that may not see them gets its vessels, at
 * the cost of one request a run.
 */
async function readVessel(
  { source: { service, settings }, notes: { ledger } }: Reading,
  id: string,
  options: PlainReadOptions,
): Promise<ApiAnswer> {
  if (settings.vesselPositions && ledger.positionsRefusal === undefined) {
    try {
      return await service.getRecord('vessels', id, { ...options, showPositions: true })
    } catch (thrown) {
      if (!(thrown instanceof ApiAuthError) || thrown.context.status !== 403) throw thrown
      const answer = await service.getRecord('vessels', id, options)
      // We may see the vessel, so its positions are what was refused.
      ledger.positionsRefusal = thrown
      return answer
    }
  }
  return service.getRecord('vessels', id, options)
}
