import { fileURLToPath } from 'node:url'

/**
 * Path of a file that ships with the program, by its path in the repository. The same from the
 * compiled modules (`dist/base/`) and from the bundle (`dist/program/`): both lie two folders deep.
 */
export function projectFile(path: string): string {
  return fileURLToPath(new URL(`../../${path}`, import.meta.url))
}
