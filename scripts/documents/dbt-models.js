/**
 * What dbt is told of the warehouse, from the comments of a migrated database: `schemas` are those
 * of `readCatalog`, by their default names. Quoted texts are JSON, which YAML takes as it is.
 */

import { isFormerName } from './describe-dictionary.js'

const WRITTEN = '# Written by `npm run db:dump`; do not edit.'

/** With the meaning of each in dbt; those of bookkeeping, parts and other instants are left out. */
const SCHEMAS = ['tracking', 'tracking_analytics', 'tracking_datasync']

/** The key columns of questions and dimensions, by the name of their view, of `readViews`. */
export async function keysOf(views) {
  const keys = {}
  for (const { schema, name, describe } of views) {
    const { key } = (await describe?.())?.members ?? {}
    if (schema === 'analytics' && key !== undefined) keys[name] = key.split(/,\s*/)
  }
  return keys
}

/**
 * config/dbt/sources.yml: every table, view and column with its meaning, and tests of keys and
 * references. `keys` are the key columns of views, by name.
 */
export function dbtSources(schemas, keys) {
  const lines = [WRITTEN, 'version: 2', '', 'sources:']
  for (const { name, comment, relations } of schemas.filter((one) => SCHEMAS.includes(one.name))) {
    const suffix = name.slice('tracking'.length)
    lines.push(
      `  - name: ${name}`,
      `    schema: "{{ var('tracking_schema', 'tracking') }}${suffix}"`,
      `    description: ${quoted(comment)}`,
      '    tables:',
    )
    for (const relation of relations) {
      lines.push(
        `      - name: ${relation.name}`,
        `        description: ${quoted(relation.comment)}`,
      )
      if (isFormerName(relation.comment)) continue
      lines.push('        columns:')
      for (const column of relation.columns) {
        lines.push(
          `          - name: ${column.name}`,
          `            data_type: ${quoted(column.type)}`,
          `            description: ${quoted(column.comment)}`,
          ...testsOf(relation.name, column.name, keys[relation.name] ?? []),
        )
      }
    }
  }
  return `${lines.join('\n')}\n`
}

const PLACES = ['tracking_analytics', 'places', 'place_locode']

/** Columns of answers that refer to a table or dimension, whose key has that name or the third. */
export const REFERENCES = {
  container_id: ['tracking', 'containers'],
  shipment_id: ['tracking', 'shipments'],
  pod_terminal_id: ['tracking_analytics', 'pod_terminals'],
  shipping_line_scac: ['tracking_analytics', 'shipping_lines'],
  customer_name: ['tracking_analytics', 'customers'],
  place_locode: PLACES,
  port_locode: PLACES,
  port_of_lading_locode: PLACES,
  port_of_discharge_locode: PLACES,
  destination_locode: PLACES,
}

function testsOf(relation, column, key) {
  if (key.length === 0) return []
  const isKey = key.length === 1 && key[0] === column
  const [schema, table, field = column] = REFERENCES[column] ?? []
  const tests = [
    ...(isKey ? ['unique', 'not_null'] : []),
    ...(table === undefined || table === relation
      ? []
      : [`relationships: { to: "source('${schema}', '${table}')", field: ${field} }`]),
  ]
  if (tests.length === 0) return []
  return ['            data_tests:', ...tests.map((test) => `              - ${test}`)]
}

/** config/dbt/exposures.yml: what the dashboard for Grafana reads; `dashboard` is its text. */
export function dbtExposures(schemas, dashboard) {
  const views = schemas.find(({ name }) => name === 'tracking_analytics')?.relations ?? []
  const read = views.filter(({ name }) => new RegExp(`\\.${name}\\b`).test(dashboard))
  return `${[
    WRITTEN,
    'version: 2',
    '',
    'exposures:',
    '  - name: tracking_sync_dashboard',
    '    label: tracking-sync',
    '    type: dashboard',
    '    maturity: high',
    `    description: ${quoted('What is to be done, and whether the sync runs: config/grafana-dashboard.json.')}`,
    '    owner:',
    '      name: tracking-sync',
    '    depends_on:',
    ...read.map(({ name }) => `      - source('tracking_analytics', '${name}')`),
  ].join('\n')}\n`
}

const quoted = (text) => JSON.stringify(text ?? '')
