import { ConfigError } from '../../base/errors.js'

/**
 * Throws ConfigError about an optional package that could not be loaded, with what to install.
 * `what` of `export parquet` needs it; empty: all of it.
 */
export function refusePackage(name: string, what: '' | 'to s3:// ', cause: unknown): never {
  const { code, message } = cause as NodeJS.ErrnoException
  const why =
    code === 'ERR_MODULE_NOT_FOUND'
      ? 'is not installed here; where tracking-sync is installed globally, run ' +
        `\`npm install --global ${name}\`, else \`npm install\` without --omit=optional`
      : `does not work here: ${message.split('\n')[0] ?? ''}`
  const problem = `${what}needs the package ${name}, which ${why}`
  throw new ConfigError([{ setting: 'export parquet', problem }], { cause })
}
