export interface NamedTest {
  readonly file: string
  readonly titles: readonly string[]
  readonly ids: readonly string[]
}
export function readTestNames(root: string): NamedTest[]
export function testsOf(file: string, text: string): NamedTest[]
export function isTestOf(test: NamedTest, titles: readonly string[]): boolean
