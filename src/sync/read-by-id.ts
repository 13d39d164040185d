import type { ApiAnswer } from '../api/call-runner.js'
import { ApiContractError } from '../errors.js'
import type { ResourceIdentifier } from '../jsonapi/document.js'
import { resourceOfType } from '../resources/index.js'
import type { Run } from './run.js'

/**
 * One record by type and id; one request, counted with its stream. Throws ApiNotFoundError when it is gone, and ApiContractError for a type that the
 * interface does not let us read by id.
 */
export async function readById(
  run: Pick<Run, 'service' | 'settings' | 'ledger' | 'signal' | 'purpose'>,
  { type, id }: ResourceIdentifier,
): Promise<ApiAnswer> {
  const { service, settings } = run
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
      return service.getVessel(id, { ...options, showPositions: settings.vesselPositions })
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
