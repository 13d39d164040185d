import type { SchemaNames } from '../../src/warehouse/connection/schema-names.js'
import type { CatalogSchema } from '../../src/extensions/doctor/schema/describe-schema.js'

export function describeDictionary(schemas: readonly CatalogSchema[], names: SchemaNames): string
export function describeReferences(schemas: readonly CatalogSchema[], names: SchemaNames): string
