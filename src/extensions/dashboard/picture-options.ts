/** A row of a panel's answer by the names of its columns, as the database wrote it. */
export type PanelRow = Readonly<Record<string, unknown>>

export interface PictureOptions {
  /** In CSS pixels; the text keeps its size. */
  readonly width: number
  /** The unit of the axis of numbers. */
  readonly unit: string
  readonly now: Date
  /** Text for screen readers. */
  readonly label: string
  /** The address that the mark of a row leads to. */
  readonly linkOf?: ((row: PanelRow) => string | undefined) | undefined
}
