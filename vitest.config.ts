import { defineConfig } from 'vitest/config'

export default defineConfig({
  test: {
    testTimeout: 180_000,
    hookTimeout: 120_000,
    projects: [
      {
        extends: true,
        test: {
          name: 'pure',
          // What is quick to fail comes first.
          sequence: { groupOrder: 0 },
          include: ['test/architecture/**/*.test.ts', 'test/unit/**/*.test.ts'],
        },
      },
      {
        extends: true,
        test: {
          name: 'database',
          include: ['test/integration/**/*.test.ts', 'test/e2e/**/*.test.ts'],
          globalSetup: ['test/support/database-server.ts'],
          maxWorkers: 2,
          // Worlds are made of many small objects that do not live long: a larger nursery saves a fifth of the collector's work.
          execArgv: ['--max-semi-space-size=32'],
          sequence: { groupOrder: 1 },
        },
      },
    ],
  },
})
