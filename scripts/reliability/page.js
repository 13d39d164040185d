/** docs/reliability.md: the same catalogue and tags give the same text. */
export function renderPage({ groups, reasons, longParts }, tests) {
  const sections = Object.entries(groups).map(([letter, { title, promises }]) => {
    const lines = Object.entries(promises).map(([id, promise]) =>
      [`- **${id}** ${promise}`, reasons[id], longOf(id, longParts, tests)]
        .filter((part) => part !== undefined)
        .join(' '),
    )
    return [`## ${letter}: ${title}`, '', ...lines, ''].join('\n')
  })
  return `${HEAD}\n${sections.join('\n')}`
}

const HEAD = `# Reliability

The promises of tracking-sync for faults and crashes. The tests that carry the id of a promise as a tag prove it; run those of H3 with

    npx vitest run --tags-filter H3

*Long: model* means that \`npm run test:long -- model\` proves the promise again with more seeds, rows or hours;
*Long only: under-load* means that \`npm test\` and the filter leave that proof to it.
Do not edit this page:
\`npm run docs:reliability\` writes it from \`test/catalogue/promises.json\` and the tags, and a test compares both.
`

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
