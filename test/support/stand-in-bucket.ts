import { mkdir, writeFile } from 'node:fs/promises'
import { createServer, type IncomingMessage } from 'node:http'
import { dirname, join } from 'node:path'
import { buffer } from 'node:stream/consumers'
import { listen, stop } from '../unit/api/fake-service.js'

/** A fault with which the store answers a request. */
export type BucketFault =
  | { readonly status: number; readonly code: string }
  /** Takes what is sent, and closes the connection without a word. */
  | 'hang up'

export interface StandInBucket {
  /** For `AWS_ENDPOINT_URL_S3`. */
  readonly url: string
  /** Bodies by key. */
  readonly objects: Map<string, Buffer>
  /** Method and key of each request that was answered as meant, in order. */
  readonly requests: string[]
  /** Asked about each request before it is carried out. */
  fault: (method: string, key: string) => BucketFault | undefined
  /** Writes all objects below a prefix as files. */
  copyTo(folder: string, prefix: string): Promise<void>
  close(): Promise<void>
}

/** So few that every listing has several pages. */
const PAGE_KEYS = 3

/**
 * An object store on a real socket with one bucket, `lake`, as far as an export asks of it: objects
 * are put, read, listed and deleted, each at once and whole. It wants requests that are signed with
 * the key `known`, and looks no further into the signature.
 */
export async function startStandInBucket(): Promise<StandInBucket> {
  const server = createServer((request, response) => {
    answer(bucket, request).then(
      ({ status, body }) => response.writeHead(status, XML).end(body),
      () => request.socket.destroy(),
    )
  })
  const bucket: StandInBucket = {
    url: await listen(server),
    objects: new Map(),
    requests: [],
    fault: () => undefined,
    copyTo: async (folder, prefix) => {
      for (const [key, body] of bucket.objects) {
        if (!key.startsWith(prefix)) continue
        const path = join(folder, key.slice(prefix.length))
        await mkdir(dirname(path), { recursive: true })
        await writeFile(path, body)
      }
    },
    close: () => stop(server),
  }
  return bucket
}

const XML = { 'content-type': 'application/xml' }

interface Answer {
  readonly status: number
  readonly body?: string | Buffer
}

/** Throws where it gives no answer. */
async function answer(bucket: StandInBucket, request: IncomingMessage): Promise<Answer> {
  const { method = '' } = request
  const url = new URL(request.url ?? '/', bucket.url)
  const [, name = '', ...rest] = decodeURIComponent(url.pathname).split('/')
  const key = rest.join('/')
  const sent = await buffer(request)
  const fault = refusalOf(request, name) ?? bucket.fault(method, key)
  if (fault === 'hang up') throw new Error(fault)
  if (fault !== undefined) return errorOf(fault)
  bucket.requests.push(`${method} ${key}`)
  if (method === 'PUT') bucket.objects.set(key, sent)
  if (method === 'DELETE') bucket.objects.delete(key)
  if (method === 'PUT' || method === 'DELETE') return { status: 200 }
  if (key === '') return { status: 200, body: list(bucket, url.searchParams) }
  const body = bucket.objects.get(key)
  return body === undefined ? errorOf({ status: 404, code: 'NoSuchKey' }) : { status: 200, body }
}

function refusalOf({ headers }: IncomingMessage, name: string): BucketFault | undefined {
  const { authorization = '' } = headers
  if (!/^AWS4-HMAC-SHA256 .*Signature=[0-9a-f]{64}$/.test(authorization)) {
    return { status: 403, code: 'AccessDenied' }
  }
  if (!authorization.includes('Credential=known/')) {
    return { status: 403, code: 'InvalidAccessKeyId' }
  }
  return name === 'lake' ? undefined : { status: 404, code: 'NoSuchBucket' }
}

const errorOf = ({ status, code }: Exclude<BucketFault, string>): Answer => ({
  status,
  body: `<?xml version="1.0"?><Error><Code>${code}</Code><Message>no</Message></Error>`,
})

function list({ objects }: StandInBucket, asked: URLSearchParams): string {
  const prefix = asked.get('prefix') ?? ''
  const after = asked.get('continuation-token') ?? ''
  const most = Math.min(PAGE_KEYS, Number(asked.get('max-keys') ?? PAGE_KEYS))
  const left = [...objects.keys()].filter((key) => key.startsWith(prefix) && key > after).sort()
  const page = left.slice(0, most)
  const contents = page.map(
    (key) => `<Contents><Key>${key}</Key><Size>${objects.get(key)!.length}</Size></Contents>`,
  )
  const more = left.length > most
  const next = more ? `<NextContinuationToken>${page.at(-1)!}</NextContinuationToken>` : ''
  return `<?xml version="1.0"?><ListBucketResult><IsTruncated>${more}</IsTruncated>${next}${contents.join('')}</ListBucketResult>`
}
