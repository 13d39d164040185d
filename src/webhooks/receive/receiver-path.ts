/** Whether two paths are one: a slash at the end makes no other. */
export function isSamePath(one: string, other: string): boolean {
  return withoutSlash(one) === withoutSlash(other)
}

/** The path in both spellings, without a slash at its end and with one. */
export function bothSpellings(path: string): readonly string[] {
  return [withoutSlash(path), `${withoutSlash(path)}/`]
}

/**
 * Says that the service would send to another path than the receiver has; undefined where both are
 * one, or no address is set.
 */
export function describeOtherPath(url: string | undefined, path: string): string | undefined {
  if (url === undefined || !URL.canParse(url)) return undefined
  const { pathname } = new URL(url)
  if (isSamePath(pathname, path)) return undefined
  return (
    `TRACKING_WEBHOOK_URL has the path ${pathname} and the receiver has ${path}: unless a proxy ` +
    `changes the path, every delivery is answered 404; set TRACKING_WEBHOOK_PATH=${pathname}`
  )
}

function withoutSlash(path: string): string {
  return path.length > 1 && path.endsWith('/') ? path.slice(0, -1) : path
}
