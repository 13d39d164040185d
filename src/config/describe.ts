/** A PostgreSQL address with `mask` in place of each password. */
export function shownDatabaseUrl(address: string, mask: string): string {
  const { protocol, username, password, host, pathname, searchParams } = new URL(address)
  const user = password === '' ? username : `${username}:${mask}`
  const query = [...searchParams].map(
    ([name, value]) => `${name}=${/password/i.test(name) ? mask : value}`,
  )
  const search = query.length === 0 ? '' : `?${query.join('&')}`
  return `${protocol}//${user === '' ? '' : `${user}@`}${host}${pathname}${search}`
}
