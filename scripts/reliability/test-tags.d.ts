export interface TaggedTest {
  readonly file: string
  /** The text of the first argument in the source. */
  readonly title: string
  readonly tags: readonly string[]
}
export function readTaggedTests(root: string): TaggedTest[]
export function testsOf(file: string, text: string): TaggedTest[]
