import { z } from 'zod'

const text = z.string().min(1)

/**
 * The question that a view answers: members of the file beside the view's SQL
 * (`sql/views/marts/<subject>/<name>.yml`). The view's columns make the filters
 * (`question-filters.ts`). Names of columns are separated by commas.
 */
export const QUESTION = z.strictObject({
  /** The question as a person asks it. */
  question: text,
  /** The data that an answer needs; shown with an empty one. */
  needs: text,
  /** Key columns of the view, which identify a row at another instant. */
  key: text,
  order: text,
  /** The column of --since and --until: a date if it ends in `_on`, else an instant. */
  period: text.optional(),
  /** Columns that only grow with the instant, which no comparison shows. */
  clock: text.optional(),
  /**
   * Columns shown, in order. The customer's columns are added to a container by themselves
   * (`CUSTOMER_COLUMNS`).
   */
  answer: text,
  /** Shown first in a terminal; other columns follow as they fit. */
  leading: text,
  /** Columns with a total below the table; money by currency. */
  sums: text.optional(),
  /** Read with the view. */
  view: text,
  columns: text,
  meanings: z.record(text, text).optional(),
  formerly: text.optional(),
  /** Commands that ask it; the first one has the answer of `sample`, a table of Markdown. */
  ask: text,
  sample: text,
  /** How to read an answer. */
  read: text,
  /** The things that an answer does not say. */
  limits: text.optional(),
})

export type Question = z.infer<typeof QUESTION>

/** Columns shown before `container_id`, if the view has them. */
export const CUSTOMER_COLUMNS = ['customer_name', 'ref_numbers_text', 'tags_text', 'custom_fields']
