import type { ListStream } from '../source/client/endpoints.js'
import type { RawPage } from '../source/client/list-pages.js'
import {
  abandonPass,
  completePass,
  type Checkpoint,
  type PassFindings,
  type PassList,
} from '../warehouse/bookkeeping/checkpoints.js'
import { ApiRequestError } from '../base/errors.js'
import {
  checkFilter,
  chooseChanging,
  FilterUselessError,
  recordUselessFilter,
  refetchThoseThatLeft,
} from './changing-list.js'
import { confirmAbsences } from './confirm-absences.js'
import { chooseIncludes, settleIncludes } from './choose-includes.js'
import { addListedTypes, foreignStreamError } from '../ingest/run-ledger.js'
import {
  hasAllContainers,
  hasAllTransportEvents,
  shownKeys,
  type Intake,
} from '../ingest/intake.js'
import { CONTAINERS_WITH_EVENTS, ListPass, openPass, startPass, wholeList } from './list-pass.js'
import { loadFieldDefinitions } from './read-custom-fields.js'
import { datesOf, ListProof } from './list-proof.js'
import { acceptShortfall, loadAcceptedShortfall, shortfallError } from './list-shortfall.js'
import type { Run } from '../ingest/run.js'
import type { Sink } from '../ingest/sink.js'
import { ingestPages } from '../ingest/ingest-pages.js'

/** Walks a list to its end, from its last position. Resolves to the findings of the pass. */
export async function walkList(run: Run, stream: ListStream): Promise<PassFindings> {
  const opened = await openPass(run, stream, (history) => chooseChanging(run, stream, history))
  if (!(opened instanceof ListPass)) {
    const { beganAt, scope, findings } = opened
    run.notes.ledger.shown(stream, { beganAt, scope })
    refuseForeign(stream, findings)
    return findings
  }
  if (opened.list.scope === 'whole') return walkToTheEnd(run, stream, opened)
  try {
    return await walkToTheEnd(run, stream, opened)
  } catch (thrown) {
    // Before the first page, the service refused the filter.
    const isRefused = thrown instanceof ApiRequestError && opened.startedAt === undefined
    if (!(thrown instanceof FilterUselessError) && !isRefused) throw thrown
    await recordUselessFilter(run, opened, thrown.message)
    await dropPass(run.sink, opened.list)
    return walkToTheEnd(run, stream, await startPass(run, wholeList(stream)))
  }
}

/**
 * Walks a list until it is proven to be shown whole, at most `MOST_WALKS` times. Throws
 * `IncompleteRunError` if it is not, and marks nothing; `FilterUselessError` if the list has other
 * records than requested.
 */
async function walkToTheEnd(run: Run, stream: ListStream, opened: ListPass): Promise<PassFindings> {
  const { list } = opened
  const proof = new ListProof()
  const passes: ListPass[] = []
  for (let next = opened; ; next = await startPass(run, list, next)) {
    const walked = await walkPass(run, stream, next, proof)
    passes.push(walked.pass)
    let verdict = proof.judge()
    if (verdict.kind !== 'whole') verdict = proof.judge(await loadAcceptedShortfall(run.sink, list))
    if (verdict.kind === 'again') {
      const { rows, distinct, lastTotal: total } = proof.tally
      const message = 'the list may have moved; it is walked again'
      run.notes.logger.info(message, { stream, rows, distinct, total })
      continue
    }
    const accepted = verdict.kind === 'short' && (await acceptShortfall(run, list, verdict))
    if (verdict.kind === 'short' && !accepted) {
      await dropPass(run.sink, list)
      throw shortfallError(list, verdict)
    }
    const since = verdict.kind === 'whole' ? passes[verdict.walk] : undefined
    return finishPass(run, since ?? walked.pass, walked.checkpoint)
  }
}

/** Forgets an incomplete pass that reached the end of its list: the next run starts over. */
async function dropPass(sink: Sink, list: PassList): Promise<void> {
  await sink.transact('abandon a pass', (session) => abandonPass(session, list))
}

/** `pass`: the walk since which the whole list has been shown. */
async function finishPass(run: Run, pass: ListPass, checkpoint: Checkpoint): Promise<PassFindings> {
  const { sink } = run
  const { beganAt, findings, isResumed, stream, startedAt: passStartedAt } = pass
  const { scope } = pass.list
  if (scope === 'changing' && !isResumed) await refetchThoseThatLeft(sink, pass)
  const end = {
    ...checkpoint,
    passStartedAt: passStartedAt ?? checkpoint.passStartedAt,
    position: { ...checkpoint.position, beganAt },
  }
  await sink.transact('complete a pass', (session) => completePass(session, sink.syncRunId, end))
  run.notes.ledger.shown(stream, { beganAt, scope })
  if (scope === 'whole' && !isResumed) noteShown(run, pass)
  // A list of foreign records shows none of our rows, but proves nothing to be gone.
  refuseForeign(stream, findings)
  if (scope === 'whole' && !isResumed) await confirmAbsences(run, pass)
  return findings
}

function noteShown({ notes: { ledger } }: Run, { stream, seen, findings }: ListPass): void {
  const streams = findings.areContainersIncluded === true ? [stream, 'containers'] : [stream]
  for (const one of streams) ledger.wholePasses.set(one, seen.get(one)?.size ?? 0)
}

const OWN_TYPES: Readonly<Record<ListStream, string>> = {
  shipments: 'shipment',
  containers: 'container',
  tracking_requests: 'tracking_request',
  custom_field_definitions: 'custom_field_definition',
  custom_fields: 'custom_field',
}

function refuseForeign(stream: string, { listedTypes }: PassFindings): void {
  const error = listedTypes && foreignStreamError(stream, listedTypes)
  if (error !== undefined) throw error
}

interface WalkedPass {
  readonly pass: ListPass
  readonly checkpoint: Checkpoint
}

/**
 * Reads and stores page after page. Starts over if a resumed pass does not fit its former end, or
 * if includes came thin.
 */
async function walkPass(
  run: Run,
  stream: ListStream,
  pass: ListPass,
  proof: ListProof,
): Promise<WalkedPass> {
  const { source, sink, notes } = run
  proof.beginWalk(pass)
  const choice = await sink.retry((warehouse) => chooseIncludes(warehouse, stream))
  const options = {
    includes: choice.includes,
    pageSize: source.settings.pageSize,
    startPage: pass.startPage,
    query: pass.list.query,
    signal: source.signal,
    counter: notes.ledger.counter(stream),
  }
  const fieldDefinitions =
    stream === 'custom_fields'
      ? await sink.retry((warehouse) => loadFieldDefinitions(warehouse, source.settings))
      : undefined
  let checkpoint: Checkpoint | undefined
  let isFirst = true
  const stopped = await ingestPages<'moved' | 'thin'>(run, {
    stream,
    pages: source.service.listRecords(stream, options),
    fieldDefinitions,
    admit: async (page, intake) => {
      sink.reachFailpoint('response_received')
      if (!pass.isContiguous(page)) return 'moved'
      // It shows the result of a trial, and includes that the service no longer accepts, so that
      // the next run does not ask in vain. A backfill trusts nothing, and always looks.
      const isShort = page.includes.length < choice.includes.length
      if (isFirst && (choice.isTrial || isShort || sink.mode === 'backfill')) {
        const isWhole = await sink.retry((warehouse) =>
          settleIncludes(run, warehouse, stream, page, intake, choice),
        )
        if (!isWhole) return 'thin'
      }
      isFirst = false
      if (pass.hasMoved(page)) proof.noteMove()
      noteFindings(pass, stream, page, intake)
      checkpoint = pass.checkpointAfter(page, proof.tally)
      proof.addPage(page, datesOf(intake, pass.list))
      // A pass of one page needs no checkpoint: after a crash it is read again anyway.
      const isWholePass = page.number === 1 && page.isLast
      return isWholePass || page.isBehindGap ? {} : { checkpoint }
    },
    note: async (page, intake) => {
      see(pass, intake)
      notes.ledger.count(stream, { pages: 1 })
      const { number, rowsSoFar: records, total, observedAt } = page
      notes.onProgress({ stream, page: number, records, total, requests: notes.ledger.requests() })
      await checkFilter(sink, pass, { keys: shownKeys(intake, stream), observedAt })
      source.signal.throwIfAborted()
    },
  })
  if (stopped === undefined && checkpoint !== undefined) return { pass, checkpoint }
  proof.discardWalk()
  if (stopped === 'thin') return walkPass(run, stream, pass, proof)
  notes.logger.info('the list has moved since the run was cut off; starting over', { stream })
  return walkPass(run, stream, await startPass(run, pass.list), proof)
}

function noteFindings(
  { findings }: ListPass,
  stream: ListStream,
  page: RawPage,
  intake: Intake,
): void {
  findings.listedTypes = addListedTypes(findings.listedTypes, page.rows, OWN_TYPES[stream])
  if (stream === 'shipments') {
    const isSoFar = findings.areContainersIncluded !== false
    findings.areContainersIncluded = isSoFar && hasAllContainers(page, intake)
  }
  if (stream === 'shipments' || stream === 'containers') {
    const isSoFar = findings.areTransportEventsIncluded !== false
    findings.areTransportEventsIncluded = isSoFar && hasAllTransportEvents(intake)
  }
}

/** A record in an answer exists, even if it is only included. */
function see(pass: ListPass, intake: Intake): void {
  for (const stream of Object.keys(OWN_TYPES)) {
    for (const key of shownKeys(intake, stream)) pass.see(stream, key)
  }
  // The first of the two ids that make the key of a transport event is its container's.
  const events = shownKeys(intake, 'transport_events')
  for (const id of new Set(events.map((key) => key.slice(0, key.indexOf(' '))))) {
    pass.see(CONTAINERS_WITH_EVENTS, id)
  }
}
