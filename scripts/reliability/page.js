/** docs/reliability.md: the same catalogue and tags give the same text. */
export function renderPage({ groups, reasons, longParts, mutants, stranger }, tests) {
  const sections = Object.entries(groups).map(([letter, { title, promises }]) => {
    const lines = Object.entries(promises).map(([id, promise]) =>
      [`- **${id}** ${promise}`, reasons[id], longOf(id, longParts, tests)]
        .filter((part) => part !== undefined)
        .join(' '),
    )
    return [`## ${letter}: ${title}`, '', ...lines, ''].join('\n')
  })
  const ends = stranger === undefined ? [] : [strangersTest(stranger)]
  return [head(groups, mutants), ...sections, ...ends].join('\n')
}

/** Ten lines: what is promised, and how it is known. */
function head(groups, mutants) {
  const ids = Object.values(groups).flatMap(({ promises }) => Object.keys(promises))
  const tried = new Set(mutants.map(({ test }) => test.id))
  const count = ids.filter((id) => tried.has(id)).length
  return `# Reliability

The promises in short:

1. A run that ends with 0 has read the whole service, and the warehouse equals it. Every other end has an [exit code](exit-codes.md) and its reason in the row of the run.
2. Faults, limits and kills at any instant cost time and nothing else: everything acknowledged is stored, nothing is stored twice, and the next run needs no help.
3. A value is replaced only by a value that was seen at the same time or later. A row is marked as deleted only after two complete passes without it and a 404 of its own.
4. Days, instants, amounts and texts come out as they went in. A value that cannot be stored as meant is kept and flagged; an unknown amount is empty.
5. No secret is in a log, an error, a table or a command line, and a reader writes nothing.

The proofs in short:

6. The ${ids.length} promises below have ids. Tests against a real PostgreSQL and a real socket carry them as tags, and a proof of equality fails where it compared no row.
7. \`npm run test:mutants\` takes ${mutants.length} safeguards out, one at a time; each must be noticed by the test that is named for it. ${count} promises are tried so.
8. One seed is one run: faults, kills, reorderings and clock steps are chosen by a seed, a hundred seeds in each \`npm test\`, ten thousand in \`npm run test:long -- simulation\`. A seed that hits nothing does not count.
9. \`npm run test:stranger\`: a program in another language computes every table and the answers by itself and compares them from outside. Its differences are at the end of this page.
10. \`npm test\` has one proof of each promise, \`npm run test:release\` also the second and dear ones. \`npm run test:steady\` runs all of them twenty times at twice the load.

The tests of one promise:

    npx vitest run --tags-filter H3

*Long: simulation* means that \`npm run test:long -- simulation\` proves the promise again with more seeds, rows or hours;
*Long only: under-load* means that \`npm test\` and the filter leave that proof to it.
Do not edit this page:
\`npm run docs:reliability\` writes it from \`test/catalogue/promises.json\` and the tags, and a test compares both.
`
}

/** Differences found by a program in another language that shares nothing with this one. */
function strangersTest({ differences, takenOver, notCompared, lastRun }) {
  const { tables, faults, kills, runs, seed, shipments, days } = lastRun
  const sum = (of) => Object.values(tables).reduce((total, table) => total + table[of], 0)
  const count = (number) => number.toLocaleString('en-US')
  const hits = Object.values(faults).reduce((total, hit) => total + hit, 0)
  const found = lastRun.differences === 0 ? 'no other difference' : `${lastRun.differences} others`
  return [
    "## A stranger's test",
    '',
    '`npm run test:stranger` runs a Python program that shares no code with this one. It was written from',
    'the interface of the service and these pages, and shows nothing about the points below that it took',
    'over from the program. It serves a world of its own with faults, moves it from day to day, kills',
    'some runs, and compares tables and answers with its own computation from outside.',
    '',
    `The run of ${lastRun.on} (seed ${seed}, ${shipments} shipments, ${days} days, ${runs} runs of the program,`,
    `${hits} faults, ${kills} kills) compared ${count(sum('rows'))} rows and ${count(sum('values'))} values of`,
    `${Object.keys(tables).length} tables and answers. Beside the differences below it found ${found}.`,
    '',
    '| difference (values in this run) | where | why |',
    '|---|---|---|',
    ...differences.map(
      ({ what, table, column, count: values, reason }) =>
        `| ${what} (${values}) | ${table}: ${column} | ${reason} |`,
    ),
    ...(differences.length === 0 ? ['| none | | |'] : []),
    '',
    'Taken over from the program, because interface and pages leave it open:',
    '',
    ...takenOver.map((point) => `- ${point}`),
    '',
    '| not compared | why |',
    '|---|---|',
    ...notCompared.map(
      (gap) => `| ${gap.tables.map((table) => `\`${table}\``).join(', ')} | ${gap.reason} |`,
    ),
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
