import { projectFile } from '../../../../base/project-file.js'
import { readTextFileIfThere } from '../../../../base/text-file.js'
import type { CommandIo } from '../../../../commands/command-io.js'

/** The last line of each step is a command, and works where the demo was started. */
export async function nextSteps(io: CommandIo, home: string, schema: string): Promise<string[]> {
  const { readEnvironment } = await import('../../../../config/load.js')
  // A package ships no sources. npm says `exec` for npx, and finds a clone's program so, too.
  const isClone = readTextFileIfThere(projectFile('src/cli.ts')) !== undefined
  const { npm_command: npmCommand } = io.process.env ?? readEnvironment()
  const isInstalled = !isClone && npmCommand !== 'exec'
  const program = isInstalled ? 'tracking-sync' : 'npx tracking-sync'
  const at = home === '.tracking-sync' ? '' : ` --home ${JSON.stringify(home)}`
  const there = `--schema ${schema}${at}`
  const steps = [
    ['pictures, in a browser', `dashboard ${there}`],
    ['a whole answer', `query pickups ${there}`],
    ['your own SQL', `query "select * from containers" ${there}`],
    ['how fresh the tables are, and what was withdrawn', `status ${there}`],
    ['records set aside', `quarantine list ${there}`],
    ['leave the database running for psql or a BI tool', `database start${at}`],
    ['the simulator alone, in another shell', 'simulate'],
  ].map(([purpose = '', command = '']) => [purpose, `${program} ${command}`])
  const install = [
    'npm run package',
    `npm install --global --ignore-scripts ./tracking-sync-${io.programVersion}.tgz`,
  ]
  const own = isClone
    ? ['install it; then, in a folder of its own, your own account', ...install]
    : ['your own account, in a folder of its own']
  steps.push([...own, `${isClone ? 'tracking-sync' : program} init`])
  return steps.flatMap(([purpose = '', ...commands]) => [
    `  ${purpose}`,
    ...commands.map((command) => `    ${command}`),
  ])
}
