import type { Generated } from 'kysely'

/** The columns of the tables that users fill: only the answers know them. */
declare module '../../warehouse/connection/data-tables.js' {
  interface AnalyticsTables {
    dd_invoices: {
      invoice_number: string
      line_number: number
      issuer: string
      charge: string
      container_number: string
      bill_of_lading_number: string | null
      charged_from_on: string
      charged_to_on: string
      amount: string
      currency_code: string
      daily_rate: string | null
      issued_on: string | null
      due_on: string | null
      port_of_discharge: string | null
      billed_because: string | null
      free_days: number | null
      free_from_on: string | null
      free_to_on: string | null
      available_on: string | null
      rule_reference: string | null
      dispute_contact: string | null
      dispute_within: string | null
      certification: string | null
      note: string | null
      dispute_url: string | null
      paid_amount: string | null
      paid_on: string | null
    }
    free_time_rules: {
      rule_name: string
      charge: string
      shipping_line_scac: string | null
      terminal: string | null
      locode: string | null
      place: string | null
      equipment_type: string | null
      equipment_length: number | null
      free_days: number | null
      counts: Generated<string>
      holiday_calendar: string | null
      starts_with: string
      currency_code: string
      valid_from: string | null
      valid_to: string | null
      note: string | null
      reported: Generated<string>
      equipment_height: string | null
      customer: string | null
      tag: string | null
      ref: string | null
      first_day: Generated<number>
      tier_counts: Generated<string>
      charged: Generated<string>
      until: Generated<string>
      valid_by: Generated<string>
      minimum: string | null
      cap: string | null
    }
    free_time_tiers: {
      rule_name: string
      from_day: number
      daily_rate: string
      per: Generated<string>
    }
    holidays: {
      calendar: string
      holiday_on: string
      name: string | null
    }
    working_calendars: {
      calendar: string
      place: string
      weekend: number[] | null
    }
  }
}
