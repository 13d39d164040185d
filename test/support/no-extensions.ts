/**
 * Takes the place of `src/extensions.ts` in the project `core`: what it proves, the core does
 * alone.
 */
export const extensions = []
export const commandGroups = [
  ['Commands:', ['migrate', 'backfill', 'sync', 'serve', 'status', 'config']],
]
export const commandExtensions = []
export const formerCommands = new Map()
