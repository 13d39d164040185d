/**
 * What dbt is told of the warehouse, from the comments of a migrated database: `schemas` are those
 * of `readCatalog`, by their default names. Quoted texts are JSON, which YAML takes as it is.
 */

import { isFormerName } from './describe-dictionary.js'

const WRITTEN = '# Written by `npm run db:dump`; do not edit.'

/** With the meaning of each in dbt; those of bookkeeping and of other instants are left out. */
const SCHEMAS = ['tracking', 'tracking_analytics', 'tracking_datasync']

/** config/dbt/sources.yml: every table, view and column with its meaning. */
export function dbtSources(schemas) {
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
        )
      }
    }
  }
  return `${lines.join('\n')}\n`
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
