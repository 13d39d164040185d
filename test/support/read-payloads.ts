import { readdirSync, readFileSync } from 'node:fs'

type JsonObject = Readonly<Record<string, unknown>>

interface PayloadRecord extends JsonObject {
  readonly id: string
  readonly type: string
  readonly attributes?: JsonObject
  readonly relationships?: Readonly<Record<string, JsonObject>>
}

interface PayloadFile {
  readonly name: string
  readonly data: readonly PayloadRecord[]
  readonly included: readonly PayloadRecord[]
  readonly bytes: Buffer
}

/** Every payload of a directory below `test/fixtures`. */
export function readPayloads(directory: string): PayloadFile[] {
  const place = new URL(`../fixtures/${directory}/`, import.meta.url)
  const names = readdirSync(place).filter((name) => name.endsWith('.json'))
  return names.map((name) => {
    const bytes = readFileSync(new URL(name, place))
    const { data, included = [] } = JSON.parse(bytes.toString()) as {
      data: PayloadRecord | PayloadRecord[]
      included?: PayloadRecord[]
    }
    return { name, data: [data].flat(), included, bytes }
  })
}
