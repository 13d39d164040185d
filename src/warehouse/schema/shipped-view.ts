/**
 * A shipped view: one file of `sql/views/<folder>/`, named after it; a stored one is made from its
 * source's.
 */
export interface ShippedView {
  readonly schema: 'analytics' | 'asOf' | 'datasync' | 'stored'
  readonly name: string
  /** First line of the file's header. */
  readonly title: string
  /** The whole header: the grain and every choice a reader could doubt. */
  readonly definition: string
  /** With placeholders for the schema names. */
  readonly sqlText: string
  /** SHA-256 of the text. */
  readonly checksum: string
}
