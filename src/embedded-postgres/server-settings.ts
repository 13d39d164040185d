/**
 * For a small machine whose only users are this program and a few analysts. A later line wins in
 * PostgreSQL, so what `initdb` found out about the machine comes first and can be overridden here;
 * `ALTER SYSTEM` overrides both.
 */
const SETTINGS: Readonly<Record<string, string>> = {
  listen_addresses: '127.0.0.1',
  // TCP is enough everywhere, and a socket path may be too long for the system (107 bytes on
  // Linux).
  unix_socket_directories: '',
  max_connections: '100',
  shared_buffers: '128MB',
  work_mem: '16MB',
  maintenance_work_mem: '64MB',
  effective_cache_size: '512MB',
  // There are no replicas: without them bulk loads into new tables skip most of the log.
  wal_level: 'minimal',
  max_wal_senders: '0',
  wal_compression: 'on',
  max_wal_size: '1GB',
  // Compiling costs more than it saves on tables of this size.
  jit: 'off',
  timezone: 'UTC',
  log_timezone: 'UTC',
  cluster_name: 'tracking-sync',
}

/** The text of `server.conf`, which lies beside the data directory. */
export function renderServerSettings(
  port: number,
  extraSettings: Readonly<Record<string, string>>,
): string {
  const settings = { ...SETTINGS, port: String(port), ...extraSettings }
  return [
    '# Written at every start. Change settings with ALTER SYSTEM as tracking_admin (admin-password).',
    "include 'data/postgresql.conf'",
    ...Object.entries(settings).map(
      ([name, value]) => `${name} = '${value.replaceAll("'", "''")}'`,
    ),
    '',
  ].join('\n')
}
