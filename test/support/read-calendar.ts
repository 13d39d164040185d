/** The events of a calendar file, read from the standard (RFC 5545); throws where it is broken. */
export function readCalendar(text: string): Record<string, string>[] {
  if (!text.endsWith('\r\n') || /[^\r]\n|\r[^\n]/.test(text)) throw new Error('a line ends amiss')
  const long = text.split('\r\n').filter((line) => Buffer.byteLength(line) > 75)
  if (long.length > 0) throw new Error(`a line is not folded: ${long[0]!}`)
  const lines = text.replaceAll('\r\n ', '').trimEnd().split('\r\n')
  if (lines[0] !== 'BEGIN:VCALENDAR' || lines.at(-1) !== 'END:VCALENDAR') {
    throw new Error('it is not a calendar')
  }
  const events: Record<string, string>[] = []
  for (const line of lines) {
    const [, name = '', value = ''] = /^([A-Z-]+(?:;[A-Z]+=[A-Z]+)*):(.*)$/.exec(line) ?? []
    if (line === 'BEGIN:VEVENT') events.push({})
    else if (name === '') throw new Error(`a line has no name: ${line}`)
    else Object.assign(events.at(-1) ?? {}, { [name]: unescape(value) })
  }
  return events
}

function unescape(value: string): string {
  return value.replaceAll(/\\(.)/g, (_, sign: string) => (sign === 'n' ? '\n' : sign))
}
