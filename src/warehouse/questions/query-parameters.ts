/** What shipped questions can be narrowed by. A file says `:terminal` where the value goes; it is null when none was given. */
export const QUERY_PARAMETERS = {
  terminal: 'Only this terminal: id, FIRMS code, nickname or name.',
  line: 'Only this shipping line: SCAC or name.',
  port: 'Only this port: UN/LOCODE or id.',
  container: 'Only this container: number or id.',
  shipment: 'Only this shipment: bill of lading number or id.',
  since: 'Only from this date or instant on.',
  until: 'Only before this date or instant.',
  limit: 'At most this many rows.',
} as const

export type QueryParameter = keyof typeof QUERY_PARAMETERS
export type QueryValues = Readonly<Partial<Record<QueryParameter, string>>>
