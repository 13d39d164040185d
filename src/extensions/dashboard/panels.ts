/** The first day drawn and the one after the last, in days from today. */
export type Days = readonly [from: number, to: number]

/** How a panel shows the rows of its SQL; names are columns of it. */
export type Picture =
  /** Stacked columns over days or hours: rows of the same `at` lie on each other by `kind`. */
  | {
      readonly shape: 'columns'
      readonly at: string
      readonly every: 'day' | 'hour'
      readonly value: string
      readonly kind: string
      /**
       * One small picture for each value, below each other: amounts in two currencies cannot be
       * added.
       */
      readonly facet?: string
      readonly days: Days
    }
  /** One bar a row, the longest first as the SQL sorts them. */
  | {
      readonly shape: 'bars'
      readonly name: string
      readonly value: string
      readonly kind: string
    }
  /** A line over time. */
  | { readonly shape: 'line'; readonly at: string; readonly value: string; readonly days: Days }
  /** A table of shares, coloured from bad to good. */
  | {
      readonly shape: 'cells'
      readonly row: string
      readonly column: string
      readonly share: string
    }
  /** A plain list. The first column is an id: the second links to it. */
  | { readonly shape: 'list' }
  /** Points over time, a line for each kind. */
  | {
      readonly shape: 'points'
      readonly at: string
      readonly kind: string
      readonly label: string
    }

export interface Panel {
  /** The name in paths and anchors. */
  readonly id: string
  readonly group: 'business' | 'operations'
  readonly title: string
  /** The meaning of the panel, and what to do about it. */
  readonly meaning: string
  /** The unit of the axis. */
  readonly unit: string
  /** Shown in place of an empty picture: it names the data that must come first. */
  readonly empty: string
  readonly picture: Picture
  /** With placeholders for the schema names; `$1` in panels about one container. */
  readonly sqlText: string
}
