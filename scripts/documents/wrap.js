/**
 * The words of a paragraph in lines of at most `width` columns; `indent` before all but the first.
 */
export function wrap(text, { width = 100, indent = '' } = {}) {
  const lines = []
  let line = ''
  for (const word of text.split(/\s+/).filter((part) => part !== '')) {
    const longer = line === '' ? word : `${line} ${word}`
    if (line !== '' && longer.length > width) {
      lines.push(line)
      line = indent + word
    } else line = longer
  }
  return [...lines, line].join('\n')
}
