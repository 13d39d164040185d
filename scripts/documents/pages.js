import { FIRST_SETTINGS, SETTING_GROUPS } from './settings-groups.js'
import { wrap } from './wrap.js'

const WRITTEN = '<!-- Written by `npm run docs`; do not edit. -->'

/** docs/settings.md. `descriptions` are those of src/config, `presets` by their names. */
export function settingsPage(descriptions, presets) {
  const grouped = Object.entries(SETTING_GROUPS).map(([title, variables]) => [
    `## ${title}`,
    ...variables.map((variable) => {
      const setting = descriptions.find((one) => one.variable === variable)
      if (setting === undefined) throw new Error(`${variable} is in a group and is not a setting`)
      return settingEntry(setting, presets)
    }),
  ])
  const listed = Object.values(SETTING_GROUPS).flat()
  const lost = descriptions.find(({ variable }) => !listed.includes(variable))
  if (lost !== undefined) throw new Error(`settings-groups.js has no group for ${lost.variable}`)
  const first = Object.entries(FIRST_SETTINGS).map(([variable, why], at) =>
    wrap(`${at + 1}. [\`${variable}\`](#${variable.toLowerCase()}): ${why}`, { indent: '   ' }),
  )
  return page(
    'Settings',
    SETTINGS_INTRO,
    '## Ten settings to begin with',
    `[\`tracking-sync init\`](operating.md#settings-file-env) asks for most of them.`,
    first.join('\n'),
    ...grouped.flat(),
    '## Presets of services',
    PRESETS_NOTES,
  )
}

function settingEntry({ name, variable, flag, meaning, defaultValue, isSecret }, presets) {
  const ofPresets = Object.entries(presets).map(([preset, settings]) =>
    presetFact(preset, settings[name], defaultValue),
  )
  const facts = [
    flag === undefined ? undefined : `\`${flag}\``,
    defaultValue === undefined ? undefined : `default \`${String(defaultValue)}\``,
    ...ofPresets,
    isSecret === true ? `secret, or the name of a file in \`${variable}_FILE\`` : undefined,
  ].filter((fact) => fact !== undefined)
  return [
    `### \`${variable}\``,
    ...(facts.length > 0 ? [wrap(facts.join(', '))] : []),
    wrap(inMarkdown(meaning)),
  ].join('\n\n')
}

/** Nothing where a preset says what holds without it. */
function presetFact(preset, value, defaultValue) {
  if (value === undefined || value === defaultValue) return undefined
  const shown = String(value)
  return shown.length > 60 ? `set by preset \`${preset}\`` : `\`${preset}\`: \`${shown}\``
}

/**
 * Names of settings and schemas as code; signs that Markdown would take for its own as they are.
 */
function inMarkdown(text) {
  return text
    .replaceAll(/(?<!`)\b(?:TRACKING_[A-Z_]+|DATABASE_URL|PORT)\b(?!`)/g, '`$&`')
    .replaceAll(/<schema>\w*/g, '`$&`')
    .replaceAll('*', '\\*')
}

const SETTINGS_INTRO = `The program looks for the value of a setting in this order: flag, environment, \`.env\` in the working
directory, \`config/tracking-sync.json\` (or the file named by \`--config\`), [preset of the
service](#presets-of-services), default. An empty value counts as absent. A malformed value ends the
command with exit code 2 and an error that names the variable.

The program ignores a setting of an earlier version and warns; the warning names its replacement.

\`tracking-sync config\` shows each setting with its current value and its source.
[config/tracking-sync.example.json](../config/tracking-sync.example.json) is a configuration file
with every default, and [config/tracking-sync.schema.json](../config/tracking-sync.schema.json) its
schema for editors. Flags and that file do not accept secrets: set them in the environment, or put
each into a file and name it, as in \`TRACKING_API_KEY_FILE=/run/secrets/tracking-key\`.

A command accepts the flags of the settings that it uses; its \`--help\` lists them.`

const PRESETS_NOTES = `A preset, chosen with \`TRACKING_SERVICE\`, describes a service: its address, its rate limit, and its
webhooks. Each preset is a file in [config/services](../config/services): \`generic\` is the default,
\`terminal49\` is for [Terminal49](terminal49.md). For another service or other values, copy one,
change it, and name the copy: \`TRACKING_SERVICE=./my-service.json\`. Its members:

- \`title\`, \`rateLimitPerMinute\`, and (optional) \`apiUrl\`
- \`numberPage\` (optional): the page of a number, with \`{number}\` in the address
- \`pageSize\`: number of records to request per list page; the service may send fewer
- \`webhooks.signature\`: \`header\`, \`algorithm\` (sha256, sha512 or sha1), \`encoding\` (hex or
  base64) and \`prefix\`, a text before the signature like \`sha256=\`
- \`webhooks.events\`: the events that our webhook must subscribe to, by default \`["all"]\`. \`*\`
  matches any part of a name, and a leading \`-\` leaves events out: \`["all", "-document.*"]\`
- \`webhooks.eventNames\`: the names of all events, for a service that does not list them
- \`webhooks.checkSenders\`: true accepts deliveries only from the addresses that the service
  publishes, and from \`webhooks.senders\` until that list was read. The signature is always checked.`

/** config/tracking-sync.example.json: each setting that may stand there, its meaning before it. */
export function exampleConfig(descriptions) {
  const members = {
    $schema: './tracking-sync.schema.json',
    '//':
      'Copy to config/tracking-sync.json and keep the members that you change. ' +
      'Secrets are not allowed here: set them in the environment.',
  }
  for (const { name, variable, meaning, defaultValue, isSecret } of descriptions) {
    if (isSecret === true) continue
    members[`//${name}`] = `${meaning} (${variable})`
    // Empty means absent.
    members[name] = defaultValue ?? ''
  }
  members['//accounts'] = 'Several accounts, each with its own settings (docs/accounts.md).'
  members.accounts = []
  return `${JSON.stringify(members, null, 2)}\n`
}

/** docs/exit-codes.md, from the tables of src/base/exit-code.ts. */
export function exitCodesPage({ EXIT_CODES, EXIT_CODE_MEANINGS, exitCodeOfSignal }) {
  const rows = Object.entries(EXIT_CODES).map(
    ([name, code]) => `| ${code} | ${EXIT_CODE_MEANINGS[name]} | ${EXIT_CODE_ADVICE[name]} |`,
  )
  const signals = ['SIGHUP', 'SIGINT', 'SIGTERM'].map((signal) => exitCodeOfSignal(signal))
  const stopped = `| ${signals.join(', ')} | stopped by SIGHUP, SIGINT or SIGTERM | nothing |`
  return page(
    'Exit codes',
    `Every command ends with one of these. The reason is in one sentence on standard error.`,
    ['| code | meaning | what to do |', '|---|---|---|', ...rows, stopped].join('\n'),
    EXIT_CODES_NOTES,
  )
}

const EXIT_CODE_ADVICE = {
  complete: 'nothing',
  bug: 'report it, with the lines above it',
  config: 'correct what the message names',
  auth: 'check `TRACKING_API_KEY`',
  service: 'wait; the next run goes on',
  database: 'run `tracking-sync check`',
  incomplete: 'read the report; below',
  leaseHeld: 'wait; the message says who is writing',
  output: 'free the disk, run it again',
}

const EXIT_CODES_NOTES = `A run with code 6 has stored everything it could. It was incomplete because a list was cut short,
because too many records are in the quarantine or missing at once, or because the service neither
showed a record nor said that it is gone. \`verify\` ends with 6 when it finds differences, the
\`webhooks\` commands when our webhook needs attention, and a run when \`TRACKING_RUN_MINUTES\` stopped
it. [troubleshooting.md](troubleshooting.md#a-run-ended-with-exit-code-6) says what to do.

A reader that ends early, as in \`tracking-sync query … | head\`, is not an error.

For cron: 7 only means that the last run has not ended yet. Codes 4 and 5 pass by themselves when
the service or the database is back.`

/** docs/metrics.md. `metrics` are those of src/serve, `rules` the text of the rules. */
export function metricsPage(metrics, rules) {
  const rows = Object.entries(metrics).map(
    ([name, { type = 'gauge', help, labelNames = [] }]) =>
      `| \`tracking_sync_${name}\` | ${type} | ${labelNames.map((label) => `\`${label}\``).join(', ')} | ${inMarkdown(help)} |`,
  )
  const alerts = [...rules.matchAll(RULE)].map(
    ([, name, expr, wait = 'at once', summary]) =>
      `| ${name} | \`${expr}\` | ${wait} | ${summary.replaceAll(LABEL, '`$1`')} |`,
  )
  return page(
    'Metrics and alerts',
    METRICS_INTRO,
    '## Alerts',
    ['| alert | when | for | says |', '|---|---|---|---|', ...alerts].join('\n'),
    '## Metrics',
    METRICS_NOTES,
    ['| metric | type | labels | says |', '|---|---|---|---|', ...rows].join('\n'),
  )
}

/** Filled in by Prometheus. */
const LABEL = /\{\{ \$labels\.(\w+) \}\}/g
const RULE = /alert: (\w+)\n +expr: (.+)\n(?: +for: (\w+)\n)? +annotations:\n +summary: (.+)/g

const METRICS_INTRO = `\`tracking-sync serve\` answers \`/metrics\`. Rules for alerts and a dashboard come with the program, in
\`config\` of the installed package ([where](operating.md#install)).

## Prometheus

Copy \`prometheus-rules.yml\` into the folder of Prometheus's rules, and add a job of this name:

\`\`\`yaml
rule_files: [prometheus-rules.yml]
scrape_configs:
  - job_name: tracking-sync
    static_configs:
      - targets: [127.0.0.1:8081]
\`\`\`

## Grafana

The dashboard is for Grafana 10 and later. In its menu choose Dashboards, New, Import, and take
\`grafana-dashboard.json\`. Or send it, here with \`jq\`:

\`\`\`sh
cd "$(dirname "$(readlink -f "$(command -v tracking-sync)")")/../config"
jq '{dashboard: ., overwrite: true}' grafana-dashboard.json | curl --fail --user admin \\
  --header 'content-type: application/json' --data @- https://grafana.example/api/dashboards/db
\`\`\`

The dashboard has two rows. *Is it running* reads Prometheus. *What needs to be done* reads the
warehouse, through a data source of the type PostgreSQL: create a login for it with the role
\`tracking_reader\` ([security.md](security.md#database-roles)). Choose both data sources at the top.
*Views* switches between the present exceptions and the stored ones, which are faster on a large
account and exist after the first \`database store-views\`. The *i* in the corner of each panel explains it and
says what to do.

If \`TRACKING_SCHEMA\` is not \`tracking\`, replace \`tracking_analytics\` and \`tracking_stored\` in the
file before you import it.`

const METRICS_NOTES = `Counters begin at zero with each process. Every process that shares a warehouse exports the metrics
of that warehouse; they are absent while the database is down. The metrics of Node.js and of the
process have their usual names (\`nodejs_\`, \`process_\`).`

/** docs/commands.md: what \`--help\` prints, without the flags of settings. */
export async function commandsPage(runCli) {
  const helpOf = async (...args) => printedBy(runCli, [...args, '--help'])
  const program = await helpOf()
  const sections = []
  for (const name of commandsIn(program)) {
    const help = await helpOf(name)
    sections.push(`## ${name}`, block(help))
    for (const member of commandsIn(help)) {
      sections.push(`### ${name} ${member}`, block(await helpOf(name, member)))
    }
  }
  return page('Commands', COMMANDS_INTRO, ...sections)
}

const COMMANDS_INTRO = `The output of \`tracking-sync <command> --help\`, without the flags of settings, which are in
[settings.md](settings.md). Reports go to standard output, progress and log lines to standard error.
Commands that print data have \`--json\`. A signal stops a run after the current batch, a second signal
at once. [exit-codes.md](exit-codes.md) lists the exit codes.`

/** Names of the commands that a help lists under its headings. */
function commandsIn(help) {
  const lists = help
    .split('\n\n')
    .filter((part) => /^(?!Usage|Arguments|Options)[A-Z][\w ]*:\n/.test(part))
  return lists
    .flatMap((list) => [...list.matchAll(/^ {2}([a-z][\w-]*)/gm)])
    .map(([, name]) => name)
    .filter((name) => name !== 'help')
}

function block(help) {
  const shown = help
    .split('\nSettings:\n')[0]
    .split('\n')
    .filter((line) => !/^ {2}(?:-h, --help|help \[command\]) /.test(line))
    .join('\n')
    .replace(/\nOptions:\n+(?=\n|$)/, '')
  return `\`\`\`text\n${shown.trimEnd()}\n\`\`\``
}

/** A process that nothing runs in: it keeps what is printed. */
export function fakeProcess(onText = () => undefined) {
  const sink = () => ({
    isTTY: false,
    on: () => undefined,
    write: (chunk, done) => {
      onText(chunk)
      done?.()
    },
  })
  const fake = { stdout: sink(), stderr: sink(), cwd: () => '/', on: () => fake, off: () => fake }
  return fake
}

async function printedBy(runCli, args) {
  let text = ''
  const fake = fakeProcess((chunk) => (text += chunk))
  const exitCode = await runCli(['node', 'tracking-sync', ...args], fake)
  if (exitCode !== 0) throw new Error(`tracking-sync ${args.join(' ')} ended with ${exitCode}`)
  return text
}

function page(title, ...parts) {
  return `# ${title}\n\n${[WRITTEN, ...parts].join('\n\n')}\n`
}

/** The list of docs/architecture.md; `rooms` as in test/architecture/rooms.ts. */
export function roomsList(rooms) {
  const rows = Object.entries(rooms).map(([room, { holds, may }]) => {
    const below = may.includes('*') ? 'everything' : may.join(', ')
    return `- **${room}**: ${holds}. ${below === '' ? 'Imports nothing.' : `Imports ${below}.`}`
  })
  return rows.map((row) => wrap(row, { indent: '  ' })).join('\n')
}

/**
 * config/tracking-sync.schema.json: what the configuration file may hold. Editors complete and
 * check it by this. `toJsonSchema` makes the schema of a setting's kind.
 */
export function configSchema(descriptions, toJsonSchema, isOfAccount) {
  const properties = Object.fromEntries(
    descriptions
      .filter(({ isSecret }) => isSecret !== true)
      .map(({ name, variable, kind: checked, meaning }) => {
        const { default: byDefault, ...kind } = toJsonSchema(checked)
        // The dialect, which the whole names.
        delete kind.$schema
        // Empty means absent.
        const value = { description: `${meaning} (${variable})`, anyOf: [kind, { const: '' }] }
        return [name, byDefault === undefined ? value : { ...value, default: byDefault }]
      }),
  )
  const schema = {
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    title: 'Configuration file of tracking-sync',
    type: 'object',
    properties: {
      $schema: { type: 'string' },
      ...properties,
      accounts: {
        description: 'Several accounts, each with its own settings (docs/accounts.md).',
        type: 'array',
        items: {
          type: 'object',
          properties: {
            name: { type: 'string', pattern: '^[a-z][a-z0-9_-]{0,29}$' },
            apiKeyFile: { description: 'File that holds its key.', type: 'string' },
            ...Object.fromEntries(
              descriptions.filter(isOfAccount).map(({ name }) => [name, properties[name]]),
            ),
          },
          required: ['name'],
          patternProperties: { '^//': { description: 'A comment.' } },
          additionalProperties: false,
        },
      },
    },
    patternProperties: { '^//': { description: 'A comment.' } },
    additionalProperties: false,
  }
  return `${JSON.stringify(schema, null, 2)}\n`
}
