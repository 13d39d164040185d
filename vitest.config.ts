import { readFileSync, statfsSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { defineConfig } from 'vitest/config'
import { BaseSequencer, type TestSpecification } from 'vitest/node'
import { readCatalogue, RELEASE, sentencesOf } from './scripts/reliability/catalogue.js'

/** Of half a minute each: one of them alone at the end would leave the others idle. */
const LONGEST = [
  'faults/fault-phases',
  'distribute/distribute',
  'commands/questions',
  'sync/one-bad-record',
  'dashboard/dashboard',
  'commands/commands-by-role',
  'e2e/readme',
  'e2e/first-steps',
  'e2e/serve',
  'e2e/serve-failures',
  'sync/crash',
]

const CATALOGUE = readCatalogue(fileURLToPath(new URL('.', import.meta.url)))

/** `npm run test:long`; see test/support/test-scale.ts. */
const IS_FULL_SCALE = process.env.TEST_SCALE === 'full'
const HOUR_MS = 3_600_000

/** A test carries the ids of the promises and findings it proves: `npx vitest run --tags-filter H3`. */
const TAGS = [
  ...Object.entries(sentencesOf(CATALOGUE)).map(([name, description]) => ({ name, description })),
  {
    name: RELEASE,
    description: 'a second proof that takes a second or more: npm run test:release',
    timeout: IS_FULL_SCALE ? 6 * HOUR_MS : 300_000,
  },
]

class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const rank = ({ moduleId }: TestSpecification): number => {
      const found = LONGEST.findIndex((name) => moduleId.endsWith(`/${name}.test.ts`))
      return found === -1 ? LONGEST.length : found
    }
    return (await super.sort(files)).sort((one, other) => rank(one) - rank(other))
  }
}

/**
 * It starts processes too, but most of its time it waits for the service's rate limit: others can
 * work meanwhile.
 */
const README = 'test/e2e/readme.test.ts'

/** They start processes and servers of their own, or wait for what must happen within a time. */
const PROCESSES = [
  'test/e2e/!(readme).test.ts',
  'test/integration/accounts/serve.test.ts',
  'test/integration/embedded-postgres/**/*.test.ts',
  'test/integration/faults/!(fault-phases|database-faults).test.ts',
  'test/integration/lake/killed-export.test.ts',
  'test/integration/sync/crash.test.ts',
]

/**
 * Where temporary files are memory: the data directory of a server is copied there in a tenth of
 * the time that a disk takes. Only where programs may be started from it and the whole suite fits
 * several times over; a TMPDIR that is set is used as it is.
 */
const MEMORY = '/dev/shm'
const LEAST_FREE_BYTES = 4 * 1024 ** 3

if (process.env.TMPDIR === undefined && canHoldTests(MEMORY)) process.env.TMPDIR = MEMORY

function canHoldTests(directory: string): boolean {
  if (process.platform !== 'linux') return false
  try {
    const mount = readFileSync('/proc/mounts', 'utf8')
      .split('\n')
      .find((line) => line.split(' ')[1] === directory)
    const [, , type, options = ''] = mount?.split(' ') ?? []
    const { bavail, bsize } = statfsSync(directory)
    const isExecutable = !options.split(',').includes('noexec')
    return type === 'tmpfs' && isExecutable && bavail * bsize >= LEAST_FREE_BYTES
  } catch {
    return false
  }
}

/** Tests of rooms of the core that also call `check`, a command of an extension. */
const WITH_CHECK = ['check-webhooks', 'custom-fields', 'roles']

/** What the core does, as long as it is not told of a command of an extension. */
const CORE = [
  ...['datasync', 'simulation', 'sync', 'warehouse', 'webhooks'].map(
    (room) => `test/integration/${room}/**/!(${WITH_CHECK.join('|')}).test.ts`,
  ),
  'test/integration/faults/{fault-phases,database-faults}.test.ts',
]
const NO_EXTENSIONS = fileURLToPath(new URL('test/support/no-extensions.ts', import.meta.url))

const LONG_ONLY = Object.values(CATALOGUE.longParts)
  .filter(({ isLongOnly }) => isLongOnly === true)
  .flatMap(({ files }) => files)

/** What a run of a script leaves out: projects with excludes of their own do not heed `--exclude`. */
const LEFT_OUT = [
  ...(process.env.TEST_EXCLUDE?.split(',') ?? []),
  ...(IS_FULL_SCALE ? [] : LONG_ONLY),
]

const DATABASE = {
  globalSetup: ['test/support/database-server.ts'],
  setupFiles: ['test/support/statement-recorder.ts'],
  // Worlds are made of many small objects that do not live long: with a larger nursery they are
  // collected less often.
  execArgv: ['--max-semi-space-size=32'],
}

export default defineConfig({
  test: {
    // Of a test; test/catalogue/time-limits.json names the exceptions. A long one takes hours.
    testTimeout: IS_FULL_SCALE ? 6 * HOUR_MS : 10_000,
    setupFiles: ['test/support/set-up-tests.ts'],
    hookTimeout: 120_000,
    sequence: { sequencer: LongestFirst },
    tags: TAGS,
    expect: {
      // A loop over nothing proves nothing.
      requireAssertions: true,
      // The default of a second is too short for a busy machine; a test's own limit is above this.
      poll: { timeout: 9_000 },
    },
    // No test replaces a module, and loading them anew costs half a second a file.
    isolate: false,
    projects: [
      {
        extends: true,
        test: {
          name: 'pure',
          // What is quick to fail comes first.
          sequence: { groupOrder: 0 },
          maxWorkers: 2,
          include: ['test/architecture/**/*.test.ts', 'test/unit/**/*.test.ts'],
        },
      },
      {
        extends: true,
        // The core alone: `src/extensions.ts` is empty.
        resolve: {
          alias: [{ find: /^(?:\.\.?\/)+(?:src\/)?extensions\.js$/, replacement: NO_EXTENSIONS }],
        },
        test: {
          ...DATABASE,
          name: 'core',
          include: CORE,
          exclude: [...PROCESSES, ...LEFT_OUT],
          // Each waits for PostgreSQL nearly half of its time.
          maxWorkers: 3,
          sequence: { groupOrder: 1 },
        },
      },
      {
        extends: true,
        test: {
          ...DATABASE,
          name: 'database',
          include: ['test/integration/**/*.test.ts', README],
          exclude: [...PROCESSES, ...CORE, ...LEFT_OUT],
          maxWorkers: 3,
          sequence: { groupOrder: 1 },
        },
      },
      {
        extends: true,
        test: {
          ...DATABASE,
          name: 'processes',
          include: PROCESSES,
          exclude: LEFT_OUT,
          maxWorkers: 2,
          sequence: { groupOrder: 2 },
        },
      },
    ],
  },
})
