import type { CatalogSchema } from '../../src/extensions/doctor/schema/describe-schema.js'

export function dbtSources(schemas: readonly CatalogSchema[]): string
export function dbtExposures(schemas: readonly CatalogSchema[], dashboard: string): string
