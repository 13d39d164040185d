import type { ApiAnswer } from '../source/client/client.js'
import type { PlainReadOptions } from '../source/client/endpoints.js'
import { ApiAuthError, ApiContractError, isAboutOneRecord, toError } from '../base/errors.js'
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
  const { path, stream } = resourceOfType(type)
  if (path === undefined) {
    throw new ApiContractError(`records of type ${type} cannot be read by id`, { pointer: '/type' })
  }
  const { signal, purpose, service } = run.source
  const options = { signal, counter: run.notes.ledger.counter(stream), purpose }
  const { document, observedAt } =
    type === 'vessel'
      ? await readVessel(run, id, options)
      : await service.getRecord(path, id, options)
  const source = `/${stream}/${id}`
  return { document, intake: readRecords(document, { stream, source, observedAt, completeTypes }) }
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
  const showPositions = settings.vesselPositions && ledger.positionsRefusal === undefined
  try {
    return await service.getRecord('vessels', id, { ...options, showPositions })
  } catch (thrown) {
    const isRefusal = thrown instanceof ApiAuthError && thrown.context.status === 403
    if (!showPositions || !isRefusal) throw thrown
    const answer = await service.getRecord('vessels', id, options)
    // We may see the vessel, so its positions are what was refused.
    ledger.positionsRefusal = thrown
    return answer
  }
}

/**
 * The result of a read of one record or its list, or the error if that alone cannot be read. Throws
 * errors of the service or the account as a whole. The ledger notes each read; `onOutage` is called
 * when this one makes several failures in a row look like an outage.
 */
export async function tryRead<Result>(
  { source: { signal }, notes: { ledger } }: Reading,
  read: () => Promise<Result>,
  onOutage?: (error: Error) => void,
): Promise<Result | Error> {
  try {
    const result = await read()
    ledger.noteRead()
    return result
  } catch (thrown) {
    if (signal.aborted || !isAboutOneRecord(thrown)) throw thrown
    const error = toError(thrown)
    if (ledger.noteRead(error)) onOutage?.(error)
    return error
  }
}
