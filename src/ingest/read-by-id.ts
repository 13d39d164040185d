import type { ApiAnswer } from '../api/call-runner.js'
import type { PlainReadOptions } from '../api/endpoints.js'
import { ApiAuthError, ApiContractError } from '../base/errors.js'
import type { Document, ResourceIdentifier } from '../jsonapi/document.js'
import { resourceOfType } from '../resources/index.js'
import { takeIn, type Intake } from './intake.js'
import type { Run } from './run.js'

type Reader = Pick<Run, 'service' | 'settings' | 'ledger' | 'signal' | 'purpose'>

/**
 * Reads one record by type and id: one request, counted with its stream. The answer may hold
 * another record. Throws ApiNotFoundError when it is gone, and ApiContractError for a type that the
 * interface does not let us read by id.
 */
export async function readById(
  run: Reader,
  { type, id }: ResourceIdentifier,
  completeTypes: ReadonlySet<string> = new Set(),
): Promise<{ readonly document: Document; readonly intake: Intake }> {
  const { stream } = resourceOfType(type)
  const { document, observedAt } = await ask(run, { type, id })
  const source = `/${stream}/${id}`
  return { document, intake: takeIn(document, { stream, source, observedAt, completeTypes }) }
}

async function ask(run: Reader, { type, id }: ResourceIdentifier): Promise<ApiAnswer> {
  const { service } = run
  const counter = run.ledger.counter(resourceOfType(type).stream)
  const options = { signal: run.signal, counter, purpose: run.purpose }
  switch (type) {
    case 'port':
      return service.getPort(id, options)
    case 'metro_area':
      return service.getMetroArea(id, options)
    case 'terminal':
      return service.getTerminal(id, options)
    case 'rail_terminal':
      return service.getRailTerminal(id, options)
    case 'vessel':
      return readVessel(run, id, options)
    case 'shipment':
      return service.getShipment(id, options)
    case 'container':
      return service.getContainer(id, options)
    case 'tracking_request':
      return service.getTrackingRequest(id, options)
    default:
      throw new ApiContractError(`records of type ${type} cannot be read by id`, {
        pointer: '/type',
      })
  }
}

/**
 * With its positions where they are wanted. An account that may not see them gets its vessels, at
 * the cost of one request a run.
 */
async function readVessel(
  { service, settings, ledger }: Reader,
  id: string,
  options: PlainReadOptions,
): Promise<ApiAnswer> {
  if (settings.vesselPositions && ledger.positionsRefusal === undefined) {
    try {
      return await service.getVessel(id, { ...options, showPositions: true })
    } catch (thrown) {
      if (!(thrown instanceof ApiAuthError) || thrown.context.status !== 403) throw thrown
      const answer = await service.getVessel(id, options)
      // We may see the vessel, so its positions are what was refused.
      ledger.positionsRefusal = thrown
      return answer
    }
  }
  return service.getVessel(id, options)
}
