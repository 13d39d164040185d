import type { CatalogSchema } from '../../src/extensions/doctor/schema/describe-schema.js'
import type { ShippedView } from '../../src/warehouse/schema/shipped-views.js'

type Keys = Readonly<Record<string, readonly string[]>>

export function keysOf(views: readonly ShippedView[]): Promise<Keys>
export function dbtSources(schemas: readonly CatalogSchema[], keys: Keys): string
export function dbtExposures(schemas: readonly CatalogSchema[], dashboard: string): string
