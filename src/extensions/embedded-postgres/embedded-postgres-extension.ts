import type { Extension } from '../../extension.js'

const database = () => import('./embedded-database.js')

/** A PostgreSQL server for people without one. */
export const embeddedPostgres: Extension = {
  name: 'embedded-postgres',
  settings: async () => (await import('./move-settings.js')).moveSettings,
  database: {
    start: async (place) => (await database()).startEmbeddedDatabase(place),
    status: async (place) => (await database()).embeddedDatabaseStatus(place),
  },
}
