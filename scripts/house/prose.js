/**
 * Phrases that make a reader go back: a sentence without a noun in front, a verb that says nothing.
 * Each is counted in comments and documents. CONTRIBUTING.md says what to write instead.
 */
const PHRASES = {
  'is no X': /\b(?:is|are|was|were|be|has|have) no (?!longer\b|more\b)/g,
  'no more': /\bno more\b|\bany more\b/g,
  anew: /\banew\b/g,
  stands: /\bstands?\b|\bstood\b/g,
  'of those that':
    /\b(?:of|for|to|by|with|from|than|in|but) (?:those|one|ones|that|what|whom)\b (?:that|which|who|is|are|was|has|have)\b|\bthose that\b/g,
  'but for': /\b(?:but|save) for\b/g,
  whatever: /\b(?:whatever|whoever|whichever)\b/gi,
  'is to be': /\b(?:is|are|has|have) to be\b/g,
}
const RELATIVE_FIRST = /^(?:What|Who|Whose|Whoever|Whatever|Which|Whichever|That)\b(?!.*\?$)/

/** Phrases in one file with their text; a file of code counts by its comments. */
export function findPhrases(path, text) {
  const parts = path.endsWith('.md') ? paragraphsOf(text) : commentsOf(text)
  return parts.flatMap((part) => {
    const relatives = part.split(/(?<=[.;:] )/).filter((one) => RELATIVE_FIRST.test(one.trim()))
    return [
      ...relatives.map((one) => ({ name: 'relative first', text: one.trim() })),
      ...Object.entries(PHRASES).flatMap(([name, pattern]) =>
        (part.match(pattern) ?? []).map((match) => ({ name, text: match })),
      ),
    ]
  })
}

function commentsOf(text) {
  const comments = text.matchAll(/\/\*\*?([\s\S]*?)\*\/|(?:^|\s)\/\/ ?(.*)$|--+ ?(.*)$/gm)
  return [...comments].map(([, block, line, sql]) =>
    (block ?? line ?? sql ?? '').replace(/\n\s*\* ?/g, ' ').trim(),
  )
}

function paragraphsOf(text) {
  return text
    .split(/\n\s*\n|\n(?=[-*|#])/)
    .map((part) => part.replace(/^[-*#>\d. ]+/, '').replace(/\n/g, ' '))
}
