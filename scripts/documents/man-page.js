/**
 * man/tracking-sync.1 from the commands themselves. Flags of settings stand once, under SETTINGS;
 * `program` is commander's, `settings` and `exitCodes` those of the generated pages.
 */
export function manPage(program, settings, { EXIT_CODES, EXIT_CODE_MEANINGS }) {
  return `${[
    '.\\" Written by `npm run docs`; do not edit.',
    `.TH TRACKING\\-SYNC 1 "" "tracking\\-sync" "User Commands"`,
    '.SH NAME',
    `tracking\\-sync \\- ${escaped('keeps a PostgreSQL warehouse equal to a container-tracking service')}`,
    '.SH SYNOPSIS',
    '.B tracking\\-sync',
    '.I command',
    '.RI [ options ]',
    '.SH DESCRIPTION',
    escaped(program.description()),
    escaped('A signal stops a run after the batch under way, a second signal at once.'),
    '.SH COMMANDS',
    ...program.commands.flatMap((command) => commandLines(command, [])),
    '.SH SETTINGS',
    escaped(
      'A value is looked for in this order: flag, environment, .env in the working directory, ' +
        'config/tracking-sync.json, preset of the service, default. A command takes the flags of ' +
        'the settings it uses; its --help lists them.',
    ),
    ...settings.flatMap(settingLines),
    '.SH EXIT STATUS',
    ...Object.entries(EXIT_CODES).flatMap(([name, code]) =>
      tagged(String(code), EXIT_CODE_MEANINGS[name]),
    ),
    ...tagged('129, 130, 143', 'stopped by SIGHUP, SIGINT or SIGTERM'),
    '.SH FILES',
    ...tagged('.env', 'Settings, of the working directory. For its owner only.'),
    ...tagged('config/tracking-sync.json', 'Settings without secrets.'),
    ...tagged('.tracking-sync/', 'The embedded database, where DATABASE_URL is not set.'),
  ].join('\n')}\n`
}

function commandLines(command, path) {
  const name = [...path, command.name()]
  if (command.commands.length > 0) {
    return command.commands.flatMap((member) => commandLines(member, name))
  }
  const own = command.options.filter(({ helpGroupHeading }) => helpGroupHeading !== 'Settings:')
  return [
    `.SS ${escaped([...name, command.usage().replace('[options] ', '').replace('[options]', '')].join(' ').trim())}`,
    escaped(command.description()),
    ...own.flatMap(({ flags, description }) => tagged(flags, description)),
  ]
}

function settingLines({ variable, flag, meaning, defaultValue, isSecret }) {
  const facts = [
    flag,
    isSecret === true ? `or ${variable}_FILE` : undefined,
    defaultValue === undefined ? undefined : `default: ${String(defaultValue)}`,
  ].filter((fact) => fact !== undefined)
  return tagged([variable, ...facts].join(', '), meaning)
}

const tagged = (term, text) => ['.TP', `.B ${escaped(term)}`, escaped(text)]

/** A hyphen that can be copied, and no line that troff would take for a request. */
function escaped(text) {
  const safe = text
    .replaceAll('\\', '\\e')
    .replaceAll('-', '\\-')
    .replaceAll('\n', ' ')
    .replaceAll(/[^\0-\x7f]/gu, (sign) => `\\[u${hexOf(sign)}]`)
  return /^[.']/.test(safe) ? `\\&${safe}` : safe
}

const hexOf = (sign) => sign.codePointAt(0).toString(16).toUpperCase().padStart(4, '0')
