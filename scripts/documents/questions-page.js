import { wrap } from './wrap.js'

const INTRODUCTION = `# Questions, and how to read the answers

Each question is one command. The same answer is a view of the schema \`tracking_analytics\` for SQL,
BI tools and dashboards; \`tracking-sync query <question> --explain\` prints its definition, its
filters, and the meaning and unit of every column. [ask.md](ask.md) says how answers are narrowed,
compared, written into files, and asked in SQL.

Days are calendar days at the place; tombstoned records are left out; currencies are never added
together. The samples are the first rows of the answers over a simulated account of 300 shipments
after thirty days, and show only some columns.

Written by \`npm run docs\`; do not edit.`

/**
 * The text of docs/questions.md: \`questions\` are those of \`readShippedQueries\`, \`subjects\` the
 * titles of their parts.
 */
export function questionsPage(questions, subjects) {
  const parts = Object.entries(subjects).map(([subject, title]) => ({
    title,
    questions: questions.filter((one) => one.subject === subject),
  }))
  const contents = parts.map(({ title }) => `[${title}](#${anchorOf(title)})`).join(' · ')
  return `${[
    INTRODUCTION,
    wrap(`Parts: ${contents}`),
    ...parts.flatMap((part) => [`## ${part.title}`, ...part.questions.map(formatQuestion)]),
  ].join('\n\n')}\n`
}

function formatQuestion({ question, guide: { ask, sample, read, limits } }) {
  return [
    `### ${question}`,
    `\`\`\`sh\n${ask.trim()}\n\`\`\``,
    sample.trim(),
    `**How to read it.** ${read.trim()}`.split('\n\n').map(wrapBlock).join('\n\n'),
    ...(limits === undefined
      ? []
      : [`**Limits.** ${limits.trim()}`.split('\n\n').map(wrapBlock).join('\n\n')]),
  ].join('\n\n')
}

/** Paragraphs are filled; tables stay as they are. */
function wrapBlock(text) {
  return /^\||\n- /.test(text) ? text : wrap(text.replaceAll(/\s+/g, ' '))
}

function anchorOf(title) {
  return title
    .toLowerCase()
    .replaceAll(/[^\w -]/g, '')
    .replaceAll(' ', '-')
}
