import { z } from 'zod'
import { isObject, membersOf, type Members } from './document.js'
import { RawRecord, type RawDocument } from './raw-record.js'

/**
 * Every frame that the service sends, checked by its schema. A frame is what lies around the
 * records; attributes of records are cast and kept by the tables of `source/records`.
 *
 * A schema refuses only input that nothing can be made of. The interface leaves many members open:
 * such a member is null where it is missing or has another form than the samples show.
 */

/** The first part that a schema refused. */
export interface Refusal {
  readonly pointer: string
  /** As a sentence without its full stop. */
  readonly reason: string
}

export function refusalOf({ issues: [issue] }: z.ZodError): Refusal {
  const { path = [], message = '' } = issue ?? {}
  return {
    pointer: path.map((name) => `/${String(name)}`).join(''),
    reason: path.length === 0 ? message : `${path.join('.')} ${message}`,
  }
}

/** Checked and not copied: a page holds thousands of records, some of them not parsed yet. */
const object = z.custom<Members>(isObject, 'is not an object')
const list = z.custom<readonly unknown[]>(Array.isArray, 'is not a list')

const filledText = z.string().min(1)

/** A member that the interface leaves open. */
function open<Schema extends z.ZodType>(schema: Schema) {
  return schema.nullable().default(null).catch(null)
}

/** An object of open members: any other value counts as an empty object. */
function openObject<Shape extends z.ZodRawShape>(shape: Shape) {
  return z.preprocess(membersOf, z.object(shape))
}

/** The entries of an open list that have the form of the schema. */
function entriesOf<Schema extends z.ZodType>(schema: Schema) {
  const fitting = z.array(open(schema)).transform((all) => all.filter((one) => one !== null))
  return open(fitting)
}

const spacedText = z.string().regex(/\S/)

/** As text or as `{ href }`; the last page has null, nothing or "". */
const link = z.union([spacedText, z.object({ href: spacedText }).transform(({ href }) => href)])

export const linksSchema = z.object({ next: open(link), last: open(link) }, 'is not an object')

/**
 * Even a plausible total is only a hint and an alarm: the service does not promise that it is
 * right, so nothing is allocated by it and no walk ends early because of it.
 */
export const metaSchema = z.object({ total: open(z.int().nonnegative()) }, 'is not an object')

const orEmpty = (value: unknown): unknown => value ?? {}

/**
 * An answer with `data`. An `errors` document, HTML that happened to parse, a bare array or an
 * object without `data` mean "ask again", never "no records".
 */
function documentOf<
  Data extends z.ZodType<readonly unknown[]>,
  Included extends z.ZodType<readonly unknown[]>,
>(data: Data, included: Included) {
  return z.object(
    {
      errors: z.never().optional(),
      data,
      included: z.preprocess((value) => value ?? [], included),
      links: z.preprocess(orEmpty, linksSchema),
      meta: z.preprocess(orEmpty, metaSchema),
    },
    'it is not an object',
  )
}

export const listSchema = documentOf(list, list)

const rawList = z.custom<readonly RawRecord[]>(
  (value) => Array.isArray(value) && value.every((one) => one instanceof RawRecord),
  'is not a list',
)

/** The same, only split into its records. */
export const rawListSchema = documentOf(rawList, rawList).transform(
  ({ data, ...rest }): RawDocument => ({ primary: data, ...rest }),
)

const alone = z.custom<Members>(isObject, 'is not one record').transform((record) => [record])

export const singleSchema = documentOf(alone, list)

/** Either of the two; `data: null` is an empty list. */
export const documentSchema = documentOf(
  z.union([list, alone, z.null().transform(() => [])], 'is neither a list nor a record'),
  list,
)

const errorSchema = z.union([
  spacedText.transform((detail) => ({ title: null, detail, code: null, source: null })),
  openObject({
    title: open(spacedText),
    detail: open(spacedText),
    message: open(spacedText),
    code: open(spacedText),
    source: openObject({ parameter: open(spacedText), pointer: open(spacedText) }),
  }).transform(({ title, detail, message, code, source }) => {
    return { title, detail: detail ?? message, code, source: source.parameter ?? source.pointer }
  }),
])

/**
 * The errors that a body reports: JSON:API's `errors[]`, and the plain forms of gateways and
 * frameworks before the service (`errors` of texts, `error`, `message`).
 */
export const errorsSchema = openObject({
  errors: z.unknown().optional(),
  error: z.unknown().optional(),
  message: z.unknown().optional(),
})
  .transform(({ errors, error, message }) => [errors ?? error ?? message].flat().slice(0, 20))
  .pipe(z.array(errorSchema))
  .transform((all) => all.filter(({ title, detail, code }) => (title ?? detail ?? code) !== null))

/** A key of any letters must fit an index page; ids of the service have 36 characters. */
export const LONGEST_ID = 255

/** Control characters and lone surrogates: PostgreSQL or the log would not show the id as it is. */
const ID_HAZARD = /[\p{Cc}\p{Surrogate}]/u

/** Segments of a path that climb out of it, also when they are percent-encoded. */
const NOT_IN_A_PATH = /^\.{1,2}$/

/** The reason why a value cannot be part of a key; undefined when it can. */
export function idProblem(id: unknown): string | undefined {
  const problem = textProblem(id)
  return problem === undefined && NOT_IN_A_PATH.test(String(id))
    ? 'cannot stand in an address'
    : problem
}

function textProblem(text: unknown): string | undefined {
  if (typeof text !== 'string' || text === '') return 'is missing or not a text'
  if (text.length > LONGEST_ID) return `is longer than ${LONGEST_ID} characters`
  return ID_HAZARD.test(text) ? 'holds control characters or lone surrogates' : undefined
}

function textWithout(problemOf: (text: unknown) => string | undefined) {
  const isText = (value: unknown): boolean => problemOf(value) === undefined
  return z.custom<string>(isText, { error: ({ input }) => problemOf(input) })
}

/** A text that the database keeps as it is, and can look up. */
const keyText = textWithout(textProblem)

/**
 * One record. Its id and type can be the key of a row, or it is set aside. The check takes some
 * 0.4 µs of the 76 that a record of a load costs.
 */
export const recordSchema = z.object(
  {
    type: z.string('is missing').min(1, 'is missing'),
    id: textWithout(idProblem),
    attributes: object.optional(),
    relationships: object.optional(),
  },
  'the record is not an object',
)

export type RecordFrame = z.infer<typeof recordSchema>

const identifierSchema = z.object({ type: keyText, id: keyText })

/** A relationship; null where it points to no record, to several, or to an unusable id. */
export const linkageSchema = openObject({ data: open(identifierSchema) }).transform(
  ({ data }) => data,
)

/** A `webhook_notification`, delivered or listed, without the records that it brings. */
export const notificationSchema = z.object(
  {
    id: keyText,
    attributes: openObject({
      event: open(keyText),
      created_at: open(z.string()),
      delivery_status: open(keyText),
    }),
    relationships: openObject({ webhook: linkageSchema, reference_object: linkageSchema }),
  },
  'is not an object',
)

export type NotificationFrame = z.infer<typeof notificationSchema>

export const deliverySchema = z.object({ data: notificationSchema }, 'The body is not an object')

/** A `container_updated_event`, or a record of any type with a changeset and a container. */
export const changeSchema = openObject({
  type: z.unknown().optional(),
  attributes: openObject({
    changeset: open(object),
    timestamp: open(z.string()),
    data_source: open(z.string()),
    timezone: open(z.string()),
  }),
  relationships: openObject({ container: linkageSchema }),
})

/** A webhook, in a list and after a change. Only `active` is specified. */
export const webhookSchema = z.object({
  id: filledText,
  attributes: openObject({
    url: open(z.string()),
    active: open(z.boolean()),
    events: entriesOf(z.string()),
    /** Absent: the service does not say. */
    secret: filledText.nullish().catch(null),
    headers: entriesOf(z.object({ name: z.string() })),
  }),
})

/** A category of `GET /webhooks/events`. */
export const eventCategorySchema = openObject({
  id: open(z.string()),
  attributes: openObject({
    events: entriesOf(z.object({ name: filledText, description: open(z.string()) })),
  }),
})

const address = z
  .string()
  .trim()
  .pipe(z.union([z.ipv4(), z.ipv6(), z.cidrv4(), z.cidrv6()]))

const addressesWithin: z.ZodType<string[]> = z.union([
  z.array(address),
  z
    .custom<object>((value) => typeof value === 'object' && value !== null)
    .transform((value) =>
      Object.values(value).flatMap((inner: unknown) => addressesWithin.parse(inner)),
    ),
  z.unknown().transform(() => []),
])

/**
 * The addresses in an answer whose shape the interface leaves open: each list in it that holds only
 * addresses or address ranges. An empty list would shut everybody out.
 */
export const addressesSchema = addressesWithin.refine(
  (found) => found.length > 0,
  'the answer holds no list of addresses',
)
