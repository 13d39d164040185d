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

What tracking-sync promises for its worst days. Each promise is proved by the tests that carry its id as a tag; run those of H3 with

    npx vitest run --tags-filter H3

*Long: model* means that \`npm run test:long -- model\` proves the promise again with more seeds, rows or hours. Do not edit this page:
\`npm run docs:reliability\` writes it from \`test/catalogue/promises.json\` and the tags, and a test compares them.
`

function longOf(id, longParts, tests) {
  const files = new Set(tests.filter((test) => test.tags.includes(id)).map((test) => test.file))
  const parts = Object.keys(longParts).filter((name) =>
    longParts[name].files.some((file) => files.has(file)),
  )
  return parts.length === 0 ? undefined : `*Long: ${parts.join(', ')}.*`
}
