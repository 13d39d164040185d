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

/** Phrases in one file, by name; a file of code counts by its comments. */
export function countPhrases(path, text) {
  const parts = path.endsWith('.md') ? paragraphsOf(text) : commentsOf(text)
  const counts = { 'relative first': 0 }
  for (const part of parts) {
    const sentences = part.split(/(?<=[.;:] )/)
    counts['relative first'] += sentences.filter((one) => RELATIVE_FIRST.test(one.trim())).length
    for (const [name, pattern] of Object.entries(PHRASES)) {
      counts[name] = (counts[name] ?? 0) + (part.match(pattern)?.length ?? 0)
    }
  }
  return counts
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
