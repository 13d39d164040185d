import type { Relationship, ResourceObject } from '../../../source/jsonapi/document.js'
import type { Atlas, Site, TerminalSite } from '../world/atlas.js'

const STATE_NAMES: Readonly<Record<string, string>> = {
  CA: 'California',
  WA: 'Washington',
  NY: 'New York',
  VA: 'Virginia',
  GA: 'Georgia',
  MD: 'Maryland',
  SC: 'South Carolina',
  FL: 'Florida',
  TX: 'Texas',
  BC: 'British Columbia',
  QC: 'Quebec',
  NS: 'Nova Scotia',
  MI: 'Michigan',
  OH: 'Ohio',
  TN: 'Tennessee',
}

const COUNTRY_NAMES: Readonly<Record<string, string>> = {
  US: 'United States',
  CA: 'Canada',
  DE: 'Germany',
  NL: 'Netherlands',
  BE: 'Belgium',
  GB: 'United Kingdom',
  ES: 'Spain',
  IT: 'Italy',
  AU: 'Australia',
  MX: 'Mexico',
  CN: 'China',
  SG: 'Singapore',
  KR: 'South Korea',
}

/** A filled to-one relationship. */
export function reference(type: string, id: string): Relationship {
  return { data: { id, type } }
}

/** The same attributes without the named ones. */
export function without(
  names: ReadonlySet<string>,
  attributes: Readonly<Record<string, unknown>>,
): Record<string, unknown> {
  return Object.fromEntries(Object.entries(attributes).filter(([name]) => !names.has(name)))
}

export function portRecord(site: Site, hasExtras: boolean): ResourceObject {
  return {
    id: site.id,
    type: 'port',
    attributes: {
      ...(hasExtras ? { id: site.id } : {}),
      name: site.name,
      code: site.locode,
      state_abbr: site.state,
      city: site.city,
      country_code: site.country,
      // Texts, as the service sends them, although its interface says number.
      latitude: site.latitude,
      longitude: site.longitude,
      time_zone: site.zone,
    },
    relationships: {
      terminals: {
        data: site.terminals
          .filter(({ type }) => type === 'terminal')
          .map(({ id, type }) => ({ id, type })),
      },
    },
  }
}

export function metroAreaRecord(site: Site): ResourceObject {
  return {
    id: site.id,
    type: 'metro_area',
    attributes: {
      name: site.name,
      code: site.locode,
      state_abbr: site.state,
      country_code: site.country,
      latitude: Number(site.latitude),
      longitude: Number(site.longitude),
      time_zone: site.zone,
    },
  }
}

export function terminalRecord(
  terminal: TerminalSite,
  atlas: Atlas,
  hasExtras: boolean,
): ResourceObject {
  const { facts, site, id } = terminal
  if (terminal.type === 'rail_terminal' || 'carrier' in facts) {
    return railTerminalRecord(terminal, atlas, hasExtras)
  }
  return {
    id,
    type: 'terminal',
    attributes: {
      ...(hasExtras ? { id } : {}),
      nickname: facts.nickname,
      name: facts.name,
      firms_code: facts.firms,
      smdg_code: facts.smdg,
      bic_facility_code: facts.firms === null ? null : `${site.locode}${facts.firms}`,
      ...(hasExtras ? { provided_data: providedData(terminal) } : {}),
      street: facts.street,
      city: site.city,
      state: STATE_NAMES[site.state ?? ''] ?? null,
      state_abbr: site.state,
      zip: facts.zip,
      country: COUNTRY_NAMES[site.country] ?? site.country,
      ...(hasExtras ? { facility_type: facts.kind === 'inland_ramp' ? 'rail' : facts.kind } : {}),
    },
    relationships: { port: reference('port', site.id) },
  }
}

/** A rail terminal names its metro area, and the port beside it where there is one. */
function railTerminalRecord(
  { facts, site, id }: TerminalSite,
  atlas: Atlas,
  hasExtras: boolean,
): ResourceObject {
  const port = 'port' in facts && facts.port !== undefined ? atlas.site(facts.port) : undefined
  return {
    id,
    type: 'rail_terminal',
    attributes: {
      name: facts.name,
      nickname: facts.nickname,
      firms_code: facts.firms,
      ...(hasExtras ? { city: site.city } : {}),
    },
    relationships: {
      port: port ? reference('port', port.id) : { data: null },
      metro_area: reference('metro_area', site.id),
    },
  }
}

function providedData({ reportsAvailability }: TerminalSite): Record<string, boolean | string> {
  const told = [
    ['pickup_lfd', true],
    ['pod_full_out_at', true],
    ['available_for_pickup', reportsAvailability],
    ['fees_at_pod_terminal', true],
    ['holds_at_pod_terminal', true],
    ['pickup_appointment_at', reportsAvailability],
    ['location_at_pod_terminal', true],
    ['pod_full_out_chassis_number', false],
  ] as const
  return Object.fromEntries(
    told.flatMap(([name, isTold]): [string, boolean | string][] => [
      [name, isTold],
      ...(name === 'pod_full_out_at' ? [] : [[`${name}_notes`, ''] satisfies [string, string]]),
    ]),
  )
}
