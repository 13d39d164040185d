import { z } from 'zod'

const tally = z.object({
  /** Records shown, each counted once. */
  distinct: z.number(),
  /** Records shown again, on pages that showed new ones too. */
  repeated: z.number(),
  /** The smallest total that a page named. */
  lowestTotal: z.number().nullable(),
  lastTotal: z.number().nullable(),
  /** Pages with records, none of them new. */
  stalePages: z.number(),
})

/** How many records of a list a pass was shown, and what the list said about itself. */
export type TallyState = Readonly<z.infer<typeof tally>>

const listedTypes = z.object({
  /** At least one record was of the type that the answer is for. */
  isOwnTypeSeen: z.boolean(),
  /** Other types, the first few, shortened: a checkpoint is small whatever the source invents. */
  foreign: z.array(z.string()).readonly(),
})

/** What the records of an answer say they are. */
export type ListedTypes = Readonly<z.infer<typeof listedTypes>>

const findings = z.object({
  listedTypes: listedTypes.optional(),
  /** Every container that a shipment lists came included. `loadConfirmedPasses` reads it in SQL. */
  areContainersIncluded: z.boolean().optional(),
  /** Every transport event that a container lists came included. */
  areTransportEventsIncluded: z.boolean().optional(),
})

/** What a pass found out on its pages so far. */
export type PassFindings = z.infer<typeof findings>

const passPosition = z.object({
  /** `page[number]` of the last page that is in the warehouse. */
  page: z.number().int().positive(),
  /** Asked for. Page numbers of another size mean other rows. */
  pageSize: z.number(),
  /** Digests of some of that page's records: a resumed pass must meet one of them again. */
  signposts: z.array(z.string()).readonly(),
  /** Asks the service for a part of the list; empty for the whole. */
  query: z.record(z.string(), z.string()).readonly(),
  /** Just before the first request of the pass, on the database's clock. */
  beganAt: z.string(),
  /** What was counted before that page. */
  tallyBefore: tally,
  findings,
})

/** Where the pass over a list stands after a page: the contents of a checkpoint. */
export type PassPosition = Readonly<z.infer<typeof passPosition>>

/** Undefined for what another version wrote and this one cannot read: the pass starts over. */
export function readPassPosition(stored: unknown): PassPosition | undefined {
  return passPosition.safeParse(stored).data
}
