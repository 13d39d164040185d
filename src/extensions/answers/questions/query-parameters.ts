/** The filters of answers, with their help. */
export const QUERY_PARAMETERS = {
  container: 'Only this container: number or id.',
  shipment: 'Only this shipment: bill of lading number or id.',
  customer: 'Only of this customer: the name the shipment has.',
  ref: 'Only with this reference number, of the shipment or the container.',
  tag: 'Only of shipments with this tag.',
  'custom-field':
    'Only with this custom field, as name=value, of the shipment, the container or the tracking request.',
  terminal: 'Only this terminal, at the port or inland: id, FIRMS code, nickname or name.',
  line: 'Only this shipping line: SCAC or name.',
  port: 'Only this port of discharge: UN/LOCODE, name or id.',
  kind: 'Only this kind: "transport event", status, hold, fee, "last free day", eta, correction or attribute.',
  cut: 'Only this cut: all, line, lane, "lane and line" or vessel.',
  period: 'Only this period: "last 90 days", week, or a quarter such as 2026-Q4.',
  'at-least': 'Only figures of at least so many observations; 5 unless given.',
  since: 'Only from this date or instant on.',
  until: 'Only before this date or instant.',
  limit: 'At most this many rows.',
} as const

/** Default values of filters. */
export const QUERY_DEFAULTS: Readonly<Partial<Record<QueryParameter, string>>> = {
  'at-least': '5',
}

export type QueryParameter = keyof typeof QUERY_PARAMETERS
export type QueryValues = Readonly<Partial<Record<QueryParameter, string>>>
