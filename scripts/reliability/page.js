import { caseIdsIn } from './case-ids.js'
import { groupBy } from './group-by.js'
import { readableTitle } from './test-names.js'

const LINK = /\]\(\.\.\/(test\/[^)]+)\)/g

/**
 * docs/reliability.md. `outcomes` are the tests that carry ids, with how many cases passed and the figures they noted;
 * `longRuns` what the long tier proved. The same inputs give the same text: it has no dates and no durations.
 */
export function renderPage({ groups, reasons }, outcomes, longRuns) {
  const sections = Object.entries(groups).map(([letter, group]) => {
    const rows = Object.entries(group.promises).map(([id, promise]) =>
      rowOf(id, promise, reasons[id], outcomes, longRuns),
    )
    return [
      `## ${letter}: ${group.title}`,
      '',
      '| id | promise | proved by | tier | last figure |',
      '|---|---|---|---|---|',
      ...rows,
      '',
    ].join('\n')
  })
  return `${HEAD}\n${sections.join('\n')}`
}

/** What a committed page says: for each id its promise, and the files of its tests. */
export function readPage(text) {
  const rows = {}
  for (const line of text.split('\n')) {
    const cells = /^\| ([A-Z]\d+) \| (.+?) \| (.*) \| [^|]* \| [^|]* \|$/.exec(line)
    if (cells === null) continue
    const [, id, promise, proof] = cells
    rows[id] = { promise, files: [...proof.matchAll(LINK)].map(([, file]) => file), proof }
  }
  return rows
}

/** A text as it stands in a cell. */
export function cell(text) {
  return text.replaceAll('|', '\\|').replaceAll('<', '&lt;').replaceAll('\n', ' ')
}

const HEAD = `# Reliability

What tracking-sync promises for its worst days, and the tests that prove each promise. The ids stand in the names of the tests, so
\`npm test -- -t W8\` runs the proof of W8. Written by \`npm run docs:reliability\` from the last run of all tests: an id is here with
tests that passed, or with the reason why it has none. Do not edit; the promises are in \`test/catalogue/promises.json\`.

Tier *CI* runs with \`npm test\`; *long* is the same test with more seeds, more rows or more hours, in \`npm run test:long\`. A number in
parentheses counts the cases that passed. A figure is of the largest of the two runs.
`

function rowOf(id, promise, reason, outcomes, longRuns) {
  const proofs = outcomes.filter((outcome) => outcome.test.ids.includes(id))
  const long = Object.values(longRuns).filter((part) => part[id] !== undefined)
  const tiers = [
    ...(proofs.some((one) => one.cases > 0) ? ['CI'] : []),
    ...(long.length > 0 ? ['long'] : []),
  ]
  const ofLong = long.flatMap((part) => part[id])
  const ofCi = proofs.flatMap((one) => one.figures)
  const figures = ofLong.length > 0 ? ofLong : ofCi
  const cells = [
    id,
    cell(promise),
    [...filesOf(id, proofs), ...(reason === undefined ? [] : [cell(reason)])].join('<br>'),
    tiers.join(', ') || '—',
    cell([...new Set(figures)].join('; ')) || '—',
  ]
  return `| ${cells.join(' | ')} |`
}

function filesOf(id, proofs) {
  const files = groupBy(proofs, (proof) => proof.test.file)
  return [...files].map(([file, ofFile]) => {
    const names = new Map()
    for (const { test, cases } of ofFile) {
      const name = nameOf(id, test.titles)
      names.set(name, (names.get(name) ?? 0) + cases)
    }
    const listed = [...names].map(([name, cases]) => (cases > 1 ? `${name} (${cases})` : name))
    return `[${file.replace(/^test\/|\.test\.ts$/g, '')}](../${file}): ${cell(listed.join('; '))}`
  })
}

/** The outermost title that carries the id, without the ids before it or in parentheses after it. */
function nameOf(id, titles) {
  const at = titles.findIndex((title) => caseIdsIn(title).includes(id))
  const title = titles[at] ?? titles.at(-1)
  const bare = readableTitle(title)
    .replace(/^[A-Z]\d+(?:\s?[-–,/]\s?[A-Z]\d+)*:?\s+/, '')
    .replace(/\s*\([A-Z]\d+(?:\s?[-–,/]\s?[A-Z]\d+)*\)$/, '')
  return bare === '' ? titles.map(readableTitle).join(' ') : bare
}
