/** docs/reliability.md: the same catalogue and tags give the same text. */
export function renderPage({ groups, reasons, longParts, stranger }, tests) {
  const sections = Object.entries(groups).map(([letter, { title, promises }]) => {
    const lines = Object.entries(promises).map(([id, promise]) =>
      [`- **${id}** ${promise}`, reasons[id], longOf(id, longParts, tests)]
        .filter((part) => part !== undefined)
        .join(' '),
    )
    return [`## ${letter}: ${title}`, '', ...lines, ''].join('\n')
  })
  return [HEAD, ...sections, ...(stranger === undefined ? [] : [strangersTest(stranger)])].join(
    '\n',
  )
}

const HEAD = `# Reliability

The promises of tracking-sync for faults and crashes. The tests that carry the id of a promise as a tag prove it; run those of H3 with

    npx vitest run --tags-filter H3

*Long: model* means that \`npm run test:long -- model\` proves the promise again with more seeds, rows or hours;
*Long only: under-load* means that \`npm test\` and the filter leave that proof to it.
Do not edit this page:
\`npm run docs:reliability\` writes it from \`test/catalogue/promises.json\` and the tags, and a test compares both.
`

/** What a program in another language, which shares nothing with this one, found from outside. */
function strangersTest({ differences, notCompared, lastRun }) {
  const { tables, faults, kills, runs, seed, shipments, days } = lastRun
  const sum = (of) => Object.values(tables).reduce((total, table) => total + table[of], 0)
  const count = (number) => number.toLocaleString('en-US')
  const hits = Object.values(faults).reduce((total, hit) => total + hit, 0)
  const found = lastRun.differences === 0 ? 'no other difference' : `${lastRun.differences} others`
  return [
    "## A stranger's test",
    '',
    '`npm run test:stranger` runs a Python program that was written from the interface of the service and',
    'these pages alone. It serves a world of its own with faults, moves it from day to day, kills some',
    'runs, and compares tables and answers with its own computation from outside.',
    '',
    `The run of ${lastRun.on} (seed ${seed}, ${shipments} shipments, ${days} days, ${runs} runs of the program,`,
    `${hits} faults, ${kills} kills) compared ${count(sum('rows'))} rows and ${count(sum('values'))} values of`,
    `${Object.keys(tables).length} tables and answers. Beside the differences below it found ${found}.`,
    '',
    '| difference | where | why |',
    '|---|---|---|',
    ...differences.map(
      ({ table, column, what, reason }) =>
        `| ${what} | \`${table}${column === undefined ? '' : `.${column}`}\` | ${reason} |`,
    ),
    ...(differences.length === 0 ? ['| none | | |'] : []),
    '',
    '| not compared | why |',
    '|---|---|',
    ...notCompared.map(({ table, reason }) => `| \`${table}\` | ${reason} |`),
    '',
  ].join('\n')
}

function longOf(id, longParts, tests) {
  const files = new Set(tests.filter((test) => test.tags.includes(id)).map((test) => test.file))
  const parts = Object.keys(longParts).filter((name) =>
    longParts[name].files.some((file) => files.has(file)),
  )
  const isOnly = (name) => longParts[name].isLongOnly === true
  const marks = [
    ['Long', parts.filter((name) => !isOnly(name))],
    ['Long only', parts.filter(isOnly)],
  ].filter(([, names]) => names.length > 0)
  const texts = marks.map(([mark, names]) => `*${mark}: ${names.join(', ')}.*`)
  return texts.length === 0 ? undefined : texts.join(' ')
}
