import type {
  Fault,
  FaultRequest,
  FaultScript,
} from '../../../src/extensions/simulator/faults/faults.js'

/** A record as the service shows it. */
export interface Shown {
  readonly id: string
  readonly type: string
  readonly attributes?: Readonly<Record<string, unknown>>
  readonly relationships?: Readonly<Record<string, unknown>>
}

type Change = (records: readonly Shown[], request: FaultRequest) => readonly unknown[]

/** Answers of the service in place of the truth, each until its handle removes it. */
export type Answers = ReturnType<typeof answersOf>

export function answersOf({ faults }: { readonly faults: FaultScript }) {
  /** A path that is a text is that path alone. */
  const play = (path: string | RegExp, fault: Fault) => {
    const match = (request: FaultRequest): boolean =>
      typeof path === 'string' ? request.path === path : path.test(request.path)
    return faults.add({ fault, match, times: Infinity })
  }
  const transform = (
    path: string | RegExp,
    change: (document: Document, request: FaultRequest) => unknown,
  ) =>
    play(path, {
      kind: 'transform',
      // An answer without data says what is wrong with the request.
      apply: (document, request) => (isData(document) ? change(document, request) : document),
    })
  return {
    play,
    fail: (path: string | RegExp, status: number, body?: unknown) =>
      play(path, {
        kind: 'status',
        status,
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      }),
    /**
     * Other records in lists, or one other in an answer with one. The total of a list shrinks with
     * its page, or is the given one.
     */
    show: (path: string | RegExp, change: Change, total?: number) =>
      transform(path, (document, request) => {
        const { data, meta } = document
        const before = [data].flat()
        const others = change(before, request)
        const fewer = Math.max(0, before.length - others.length)
        return {
          ...document,
          data: Array.isArray(data) ? others : others[0],
          meta: { ...meta, total: total ?? (meta?.total && meta.total - fewer) },
        }
      }),
    /** Other records of these types, wherever they come: shown, included, in lists or alone. */
    showType: (types: string | readonly string[], change: (record: Shown) => unknown) =>
      transform(/./, ({ data, included, ...document }) => {
        const apply = (record: Shown): unknown =>
          [types].flat().includes(record.type) ? change(record) : record
        return {
          ...document,
          data: Array.isArray(data) ? data.map(apply) : apply(data),
          ...(included === undefined ? {} : { included: included.map(apply) }),
        }
      }),
  }
}

interface Document {
  readonly data: Shown | Shown[]
  readonly included?: readonly Shown[]
  readonly meta?: { readonly total?: number }
}

function isData(document: unknown): document is Document {
  return typeof document === 'object' && document !== null && 'data' in document
}
