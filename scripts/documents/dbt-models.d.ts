import type { CatalogSchema } from '../../src/extensions/doctor/schema/describe-schema.js'
import type { ShippedView } from '../../src/warehouse/schema/shipped-views.js'

type Keys = Readonly<Record<string, readonly string[]>>

/** Schema and name of what a column of this name refers to, and its key where that has another. */
export const REFERENCES: Readonly<Record<string, readonly [string, string, string?]>>

export function keysOf(views: readonly ShippedView[]): Promise<Keys>
export function dbtSources(schemas: readonly CatalogSchema[], keys: Keys): string
export function dbtExposures(schemas: readonly CatalogSchema[], dashboard: string): string
