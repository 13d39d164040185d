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
  /** A table of containers. */
  | { readonly shape: 'list'; readonly columns: readonly ListColumn[] }
  /** Lines that keep a day until it moves: days on the upright axis. */
  | {
      readonly shape: 'steps'
      readonly at: string
      readonly value: string
      readonly kind: string
    }
  /** Bars from one instant to another, to now where there is none. */
  | {
      readonly shape: 'spans'
      readonly from: string
      readonly to: string
      readonly name: string
      readonly kind: string
      readonly label: string
    }
  /** Circles on the land of the earth; the `kind` of a place is another one than `ship`. */
  | {
      readonly shape: 'map'
      readonly name: string
      readonly kind: string
      readonly here: string
      readonly coming: string
      readonly latitude: string
      readonly longitude: string
    }
  /** Not drawn: other code reads the rows. */
  | { readonly shape: 'facts' }

/** How a table shows the values of a column, beside their plain text. */
export type Cell =
  /** A container number that links to its page. */
  | 'container'
  | 'text'
  /** A long text. */
  | 'sentence'
  | 'day'
  /** An amount, with its currency in the column `also`. */
  | 'money'
  /** Days to a last free day: negative past it. */
  | 'days-left'
  | 'state'
  | 'severity'
  /** A text that narrows the page; the column `also` has the value of that filter. */
  | 'customer'
  | 'line'
  | 'terminal'
  | 'port'

export interface ListColumn {
  readonly name: string
  readonly title: string
  readonly cell: Cell
  readonly also?: string
  /** Not on a small screen, and not in the short table of the overview. */
  readonly isExtra?: true
}

export interface Panel {
  /** The name in paths and anchors. */
  readonly id: string
  readonly group: 'business' | 'list' | 'container' | 'operations'
  readonly title: string
  /** The meaning of the panel, and what to do about it. */
  readonly meaning: string
  /** The unit of the axis. */
  readonly unit: string
  /** Shown in place of an empty picture: it names the data that must come first. */
  readonly empty: string
  readonly picture: Picture
  /** Takes the whole width of the overview. */
  readonly isWide?: true
  /** The list that the marks of the picture lead to, and the columns that narrow it to them. */
  readonly leadsTo?: { readonly path: string; readonly by?: Readonly<Record<string, string>> }
  /**
   * With placeholders for the schema names, and with `{{chosen}}` for the conditions of the filters
   * on rows of containers (`{{chosen_shipments}}`: of shipments). In panels about one container
   * `$1` is its id.
   */
  readonly sqlText: string
  /** A part of this SQL. Panels of the overview with the same rows share one reading of them. */
  readonly rows?: string
}
