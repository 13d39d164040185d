import { METRIC_PANELS } from './grafana-metric-panels.js'
import { WAREHOUSE_PANELS } from './grafana-warehouse-panels.js'

/**
 * config/grafana-dashboard.json, in the form that Grafana 10 and later imports. Data sources are
 * variables, so that nothing in it belongs to somebody's installation.
 */
export function grafanaDashboard() {
  const dashboard = {
    title: 'tracking-sync',
    uid: 'tracking-sync',
    description: 'Whether tracking-sync works, and which containers need attention.',
    tags: ['tracking-sync'],
    schemaVersion: 38,
    editable: true,
    graphTooltip: 1,
    refresh: '5m',
    time: { from: 'now-7d', to: 'now' },
    templating: { list: VARIABLES },
    panels: layOut([
      { title: 'Is it running (metrics)', panels: METRIC_PANELS },
      { title: 'What needs to be done (warehouse)', panels: WAREHOUSE_PANELS },
    ]),
  }
  return `${JSON.stringify(dashboard, null, 2)}\n`
}

const PROMETHEUS = { type: 'prometheus', uid: '${prometheus}' }
/** Since 10.2.3 it has another type, which Grafana knows by this one too. */
const POSTGRESQL = { type: 'postgres', uid: '${warehouse}' }

const VARIABLES = [
  {
    name: 'prometheus',
    label: 'Prometheus',
    description: 'Where the metrics of tracking-sync serve are.',
    type: 'datasource',
    query: PROMETHEUS.type,
  },
  {
    name: 'warehouse',
    label: 'Warehouse',
    description: 'The database of the warehouse, with a login that has the role tracking_reader.',
    type: 'datasource',
    query: POSTGRESQL.type,
  },
  {
    name: 'job',
    label: 'Job',
    description: 'The jobs of Prometheus that read /metrics; one for each warehouse.',
    type: 'query',
    datasource: PROMETHEUS,
    query: { query: 'label_values(tracking_sync_info, job)', refId: 'job' },
    refresh: 2,
    includeAll: true,
    multi: true,
    allValue: '.+',
    current: { text: ['All'], value: ['$__all'] },
  },
  {
    name: 'views',
    label: 'Views',
    description:
      'Exceptions as of now, or as they were last stored: faster on a large account, and there once `database store-views` has run.',
    type: 'custom',
    query: 'as of now : tracking_analytics, as last stored : tracking_stored',
    current: { text: 'as of now', value: 'tracking_analytics' },
    options: [
      { text: 'as of now', value: 'tracking_analytics', selected: true },
      { text: 'as last stored', value: 'tracking_stored', selected: false },
    ],
  },
]

const COLUMNS = 24

/** Panels from left to right, in a new line where the next one does not fit. */
function layOut(rows) {
  const made = []
  let y = 0
  const place = (panel, x, [w, h]) =>
    made.push({ id: made.length + 1, gridPos: { x, y, w, h }, ...panel })
  for (const { title, panels } of rows) {
    place({ type: 'row', title, collapsed: false, panels: [] }, 0, [COLUMNS, 1])
    y += 1
    let x = 0
    let height = 0
    for (const panel of panels) {
      const size = panel.size ?? [8, 8]
      if (x + size[0] > COLUMNS) {
        y += height
        x = 0
        height = 0
      }
      place(panelOf(panel), x, size)
      x += size[0]
      height = Math.max(height, size[1])
    }
    y += height
  }
  return made
}

function panelOf({ title, meaning, shape, queries, sqlText, ...look }) {
  const datasource = queries === undefined ? POSTGRESQL : PROMETHEUS
  // What is true now: the last value of a week looks like good news when the process is gone.
  const when = shape === 'stat' ? { instant: true } : { range: true }
  const targets = queries?.map((query, at) => ({ ...askPrometheus(query, at), ...when })) ?? [
    askWarehouse(sqlText),
  ]
  return { title, description: meaning, datasource, targets, ...SHAPES[shape](look) }
}

function askPrometheus([expr, legendFormat = '__auto'], at) {
  return { refId: 'ABC'[at], datasource: PROMETHEUS, editorMode: 'code', expr, legendFormat }
}

function askWarehouse(rawSql) {
  const target = { refId: 'A', datasource: POSTGRESQL, format: 'table', editorMode: 'code' }
  return { ...target, rawQuery: true, rawSql }
}

/** The panel of each shape; see the documents of Grafana. */
const SHAPES = {
  stat: ({ unit = 'none', words = {}, steps }) => ({
    type: 'stat',
    fieldConfig: {
      defaults: {
        unit,
        color: { mode: 'thresholds' },
        thresholds: { mode: 'absolute', steps: steps.map(toStep) },
        mappings: [{ type: 'value', options: mapValues(words, (text) => ({ text })) }],
      },
      overrides: [],
    },
    options: { reduceOptions: { calcs: ['lastNotNull'] }, colorMode: 'background' },
  }),
  lines: ({ unit }) => ({
    type: 'timeseries',
    fieldConfig: {
      defaults: { unit, min: 0, custom: { drawStyle: 'line', fillOpacity: 10 } },
      overrides: [],
    },
    options: {
      legend: { displayMode: 'list', placement: 'bottom', showLegend: true },
      tooltip: { mode: 'multi', sort: 'desc' },
    },
  }),
  states: () => ({
    type: 'state-timeline',
    fieldConfig: {
      defaults: {
        color: { mode: 'fixed', fixedColor: 'red' },
        mappings: [{ type: 'value', options: { 1: { text: 'fires' } } }],
        noValue: 'no alert fires',
      },
      overrides: [],
    },
    options: { showValue: 'never', legend: { showLegend: false } },
  }),
  columns: (look) => barChart(look, 'vertical'),
  bars: (look) => barChart(look, 'horizontal'),
  table: ({ units = {} }) => ({
    type: 'table',
    fieldConfig: {
      defaults: { custom: { filterable: true } },
      overrides: Object.entries(units).map(([name, unit]) => override(name, 'unit', unit)),
    },
    options: { showHeader: true },
  }),
}

function barChart({ colors = {} }, orientation) {
  return {
    type: 'barchart',
    fieldConfig: {
      defaults: { unit: 'short', min: 0, decimals: 0, custom: { fillOpacity: 80 } },
      overrides: Object.entries(colors).map(([name, fixedColor]) =>
        override(name, 'color', { mode: 'fixed', fixedColor }),
      ),
    },
    options: {
      orientation,
      stacking: 'normal',
      xTickLabelSpacing: orientation === 'vertical' ? 100 : 0,
      legend: { displayMode: 'list', placement: 'bottom', showLegend: true },
      tooltip: { mode: 'multi', sort: 'none' },
    },
  }
}

function override(name, id, value) {
  return { matcher: { id: 'byName', options: name }, properties: [{ id, value }] }
}

function toStep([value = null, color]) {
  return { value, color }
}

function mapValues(members, change) {
  return Object.fromEntries(Object.entries(members).map(([key, value]) => [key, change(value)]))
}
