/**
 * Takes the place of `src/extensions.ts` in the project `core`: what it proves, the core does
 * alone.
 */
export const extensions = []
export const extensionCommands = []
export const commandExtensions = []
