/**
 * A question that `query` answers from the view with its name, whose columns make the filters
 * (`shipped-queries.ts`).
 */
export interface Question {
  /**
   * Columns shown, in order; names of columns here are separated by commas. The customer's columns
   * are added to a container by themselves (`CUSTOMER_COLUMNS`).
   */
  readonly columns: string
  readonly order: string
  /** Key columns of the view, which identify a row at another instant. */
  readonly key: string
  /** The column of --since and --until: a date if it ends in `_on`, else an instant. */
  readonly period?: string
  /** The data that an answer needs; shown with an empty one. */
  readonly needs: string
  /** Shown first in a terminal; other columns follow as they fit. */
  readonly leading?: string
  /** Columns with a total below the table; money by currency. */
  readonly sums?: string
  /** Columns that only grow with the instant, which no comparison shows. */
  readonly clock?: string
  /** Answers for the present only: `--as-of` has no effect. */
  readonly isOfNow?: boolean
}

/** Columns shown before `container_id`, if the view has them. */
export const CUSTOMER_COLUMNS = ['customer_name', 'ref_numbers_text', 'tags_text', 'custom_fields']
