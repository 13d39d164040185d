import * as Plot from '@observablehq/plot'
import { parseHTML } from 'linkedom'
import { coloursOfMap, drawMap } from './draw-map.js'
import type { Picture } from './panels/panels.js'
import type { PanelRow, PictureOptions } from './picture-options.js'

/** Pictures that are drawn. */
type Drawable = Exclude<Picture, { shape: 'list' | 'facts' }>

/** Colours of the style sheet, which has each for light and for dark. */
const FIRST = 'var(--series-a)'
const SERIES = [FIRST, ...['b', 'c', 'd', 'e', 'f', 'g'].map((name) => `var(--series-${name})`)]

/** Kinds with a good or bad meaning have that colour in every picture. */
const MEANT: Readonly<Record<string, string>> = {
  high: 'var(--bad)',
  medium: 'var(--middling)',
  others: 'var(--series-g)',
  low: 'var(--series-a)',
  'a day later or more': 'var(--bad)',
  later: 'var(--middling)',
  earlier: 'var(--good)',
  hold: 'var(--bad)',
  fee: 'var(--middling)',
  availability: 'var(--good)',
  dead: 'var(--bad)',
  deleted: 'var(--bad)',
}

/** Kinds of a picture, each with its colour, for its legend. */
export function coloursOf(picture: Picture, rows: readonly PanelRow[]): Map<string, string> {
  if (picture.shape === 'map') return coloursOfMap(picture, rows)
  if (!('kind' in picture)) return new Map()
  const kinds = [...new Set(rows.map((row) => text(row[picture.kind])))]
  let used = 0
  return new Map(
    kinds.map((kind) => [kind, MEANT[kind] ?? SERIES[used++ % SERIES.length] ?? FIRST]),
  )
}

/** The part of an element that we need; our types do not include the browser's. */
interface Drawn {
  readonly outerHTML: string
  readonly textContent: string | null
  querySelectorAll(selector: string): Iterable<Drawn>
  getAttribute(name: string): string | null
  setAttribute(name: string, value: string): void
  removeAttribute(name: string): void
  remove(): void
}

/**
 * The rows as SVG without scripts, styles or ids, drawn outside of a browser. Colours are variables
 * of the page's style sheet. Takes some milliseconds.
 */
export function drawPicture(
  picture: Drawable,
  rows: readonly PanelRow[],
  options: PictureOptions,
): string {
  const { document } = parseHTML('<!doctype html><html><body></body></html>') as unknown as {
    readonly document: never
  }
  const svg = Plot.plot({
    document,
    className: 'picture',
    width: options.width,
    marginLeft: 44,
    marginRight: 20,
    ...draw(picture, rows, options),
  }) as unknown as Drawn
  for (const style of svg.querySelectorAll('style')) style.remove()
  // ARIA forbids a group's own name in a single picture.
  for (const group of svg.querySelectorAll('g[aria-label]')) {
    group.setAttribute('class', String(group.getAttribute('aria-label')))
    group.removeAttribute('aria-label')
  }
  // A tenth of a pixel is enough for the shores.
  for (const path of svg.querySelectorAll('.geo path')) {
    const shores = path.getAttribute('d') ?? ''
    path.setAttribute(
      'd',
      shores.replaceAll(/\d+\.\d+/g, (length) => Number(length).toFixed(1)),
    )
  }
  for (const link of svg.querySelectorAll('a')) {
    link.setAttribute('tabindex', '-1')
    const [title] = link.querySelectorAll('title')
    link.setAttribute('aria-label', title?.textContent ?? '')
  }
  // A picture with links is not an image: its parts can be reached.
  svg.setAttribute('role', options.linkOf === undefined ? 'img' : 'group')
  svg.setAttribute('aria-label', options.label)
  return svg.outerHTML
}

function draw(
  picture: Drawable,
  rows: readonly PanelRow[],
  options: PictureOptions,
): Plot.PlotOptions {
  switch (picture.shape) {
    case 'columns':
      return drawColumns(picture, rows, options)
    case 'bars':
      return drawBars(picture, rows, options)
    case 'line':
      return drawLine(picture, rows, options)
    case 'cells':
      return drawCells(picture, rows, options)
    case 'steps':
      return drawSteps(picture, rows, options)
    case 'spans':
      return drawSpans(picture, rows, options)
    case 'map':
      return drawMap(picture, rows, options)
  }
}

type Of<Shape extends Picture['shape']> = Extract<Picture, { shape: Shape }>

function drawColumns(
  picture: Of<'columns'>,
  rows: readonly PanelRow[],
  { width, unit, now, linkOf }: PictureOptions,
): Plot.PlotOptions {
  const { at, every, value, kind, facet } = picture
  const colours = coloursOf(picture, rows)
  const facets = facet === undefined ? 1 : new Set(rows.map((row) => row[facet])).size
  return {
    height: 60 + 150 * facets,
    x: timeAxis(picture, rows, now, width),
    y: { label: unit, grid: true, tickFormat: 's', ticks: ticksOf(picture, rows) },
    ...(facet === undefined ? {} : { fy: { label: null }, marginRight: 40 }),
    marks: [
      Plot.rectY(rows, {
        x: (row: PanelRow) => instant(row[at]),
        interval: every,
        y: (row: PanelRow) => Number(row[value]),
        fill: (row: PanelRow) => colours.get(text(row[kind])),
        ...(linkOf === undefined ? {} : { href: linkOf }),
        ...(facet === undefined ? {} : { fy: facet }),
        title: (row: PanelRow) =>
          [
            day(row[at], every),
            text(row[kind]),
            `${text(row[value])} ${facet === undefined ? unit : text(row[facet])}`,
          ].join(', '),
        order: null,
      }),
      Plot.ruleY([0]),
    ],
    color: { type: 'identity' },
  }
}

/** Four, and fewer for small numbers of whole things: half a container is never counted. */
function ticksOf({ at, value }: Of<'columns'>, rows: readonly PanelRow[]): number {
  const heights = new Map<string, number>()
  for (const row of rows) {
    const height = Number(row[value])
    if (!Number.isInteger(height)) return 4
    heights.set(text(row[at]), (heights.get(text(row[at])) ?? 0) + height)
  }
  return Math.min(4, Math.max(1, ...heights.values()))
}

const DAY_MS = 86_400_000

/** Days of an axis of days at least: with fewer, a column is as wide as the picture. */
const FEWEST_DAYS = 8

/** From the day of the first row; points outside of the picture's days are not drawn. */
function timeAxis(
  { at, days: [from, to], ...picture }: Of<'columns' | 'line'>,
  rows: readonly PanelRow[],
  now: Date,
  width: number,
): Plot.ScaleOptions {
  const today = Math.floor(now.getTime() / DAY_MS)
  const first = Math.min(...rows.map((row) => Math.floor(instant(row[at]).getTime() / DAY_MS)))
  const isOfDays = 'every' in picture && picture.every === 'day'
  const fewest = isOfDays ? FEWEST_DAYS : 1
  const start = Math.max(today + from, Math.min(first, today + to - 1))
  const domain = [start, Math.max(today + to, start + fewest)].map(
    (days) => new Date(days * DAY_MS),
  )
  const tickFormat = { tickFormat: isOfDays ? shortDay : hourOrDay }
  return {
    type: 'utc',
    label: null,
    ticks: width < 450 ? 4 : 8,
    domain,
    clamp: true,
    ...tickFormat,
  }
}

/** The day at midnight, and the hour between two of them. */
function hourOrDay(date: Date): string {
  return date.getUTCHours() === 0 ? shortDay(date) : date.toISOString().slice(11, 16)
}

function drawBars(
  picture: Of<'bars'>,
  rows: readonly PanelRow[],
  { width, unit, linkOf }: PictureOptions,
): Plot.PlotOptions {
  const { name, value, kind } = picture
  const colours = coloursOf(picture, rows)
  const names = [...new Set(rows.map((row) => text(row[name])))]
  // Half a container is never counted.
  const most = Math.max(...rows.map((row) => Number(row[value])))
  return {
    height: 56 + 24 * names.length,
    marginLeft: 130,
    marginRight: 44,
    x: { label: unit, tickFormat: 's', ticks: Math.min(width < 450 ? 3 : 6, most), grid: true },
    y: { domain: names, label: null },
    marks: [
      Plot.barX(rows, {
        y: (row: PanelRow) => text(row[name]),
        x: (row: PanelRow) => Number(row[value]),
        fill: (row: PanelRow) => colours.get(text(row[kind])),
        ...(linkOf === undefined ? {} : { href: linkOf }),
        title: (row: PanelRow) =>
          `${text(row[name])}, ${text(row[kind])}: ${text(row[value])} ${unit}`,
        order: null,
      }),
      Plot.ruleX([0]),
    ],
    color: { type: 'identity' },
  }
}

function drawLine(
  picture: Of<'line'>,
  rows: readonly PanelRow[],
  { width, unit, now }: PictureOptions,
): Plot.PlotOptions {
  const { at, value } = picture
  const x = (row: PanelRow): Date => instant(row[at])
  const y = (row: PanelRow): number => Number(row[value])
  return {
    height: 210,
    x: timeAxis(picture, rows, now, width),
    y: { label: unit, grid: true, ticks: 4, zero: true },
    marks: [
      Plot.areaY(rows, { x, y1: 0, y2: y, fill: FIRST, fillOpacity: 0.15 }),
      Plot.lineY(rows, { x, y, stroke: FIRST }),
      Plot.ruleY([0]),
    ],
  }
}

function drawCells(
  { row: name, column, share }: Of<'cells'>,
  rows: readonly PanelRow[],
  { linkOf }: PictureOptions,
): Plot.PlotOptions {
  const names = [...new Set(rows.map((row) => text(row[name])))]
  const columns = [...new Set(rows.map((row) => text(row[column])))]
  const x = (row: PanelRow): string => text(row[column])
  const y = (row: PanelRow): string => text(row[name])
  const per = (row: PanelRow): string => `${Math.round(Number(row[share]) * 100)} %`
  return {
    height: 40 + 26 * names.length,
    marginLeft: 92,
    x: { domain: columns, label: null, axis: 'top' },
    y: { domain: names, label: null },
    marks: [
      Plot.cell(rows, {
        x,
        y,
        inset: 1,
        fill: (row: PanelRow) => shade(Number(row[share])),
        ...(linkOf === undefined ? {} : { href: linkOf }),
        title: (row: PanelRow) => `${y(row)}, ${x(row)}: ${per(row)}`,
      }),
      Plot.text(rows, { x, y, text: per, fill: 'var(--on-shade)', pointerEvents: 'none' }),
    ],
    color: { type: 'identity' },
  }
}

function shade(share: number): string {
  if (share >= 0.9) return 'var(--shade-good)'
  return share >= 0.7 ? 'var(--shade-middling)' : 'var(--shade-bad)'
}

/** Each kind holds its day until the next one is told. */
function drawSteps(
  picture: Of<'steps'>,
  rows: readonly PanelRow[],
  { width, now }: PictureOptions,
): Plot.PlotOptions {
  const { at, value, kind } = picture
  const colours = coloursOf(picture, rows)
  const x = (row: PanelRow): Date => instant(row[at])
  const y = (row: PanelRow): Date => instant(row[value])
  const stroke = (row: PanelRow): string | undefined => colours.get(text(row[kind]))
  return {
    height: 200,
    marginLeft: 56,
    x: { type: 'utc', label: null, ticks: width < 450 ? 3 : 6 },
    y: { type: 'utc', label: null, ticks: 5, grid: true, tickFormat: shortDay },
    marks: [
      Plot.ruleX([now], { stroke: 'var(--bad)', strokeDasharray: '3,3' }),
      Plot.lineY(rows, { x, y, z: kind, stroke, strokeWidth: 2, curve: 'step-after' }),
      Plot.dot(rows, {
        x,
        y,
        r: 3,
        fill: stroke,
        title: (row: PanelRow) => `${day(row[at], 'day')}, ${text(row[kind])}: ${text(row[value])}`,
      }),
      // Names at the ends of lines tell them apart on paper without colours.
      Plot.text(endsOf(picture, rows), {
        x: ({ last }: End) => instant(last[at]),
        y: ({ last }: End) => instant(last[value]),
        text: ({ kinds }: End) => namesOf(kinds),
        textAnchor: 'end',
        dy: -8,
        fill: 'var(--text)',
        stroke: 'var(--card)',
      }),
    ],
    color: { type: 'identity' },
  }
}

/** The end of lines, those of several kinds that end on one day. */
interface End {
  readonly last: PanelRow
  readonly kinds: string[]
}

/** Two names at most: those of eight would cover the plot. */
function namesOf(kinds: readonly string[]): string {
  const more = kinds.length - 2
  return more > 1 ? `${kinds.slice(0, 2).join(', ')} and ${more} more` : kinds.join(', ')
}

function endsOf({ at, value, kind }: Of<'steps'>, rows: readonly PanelRow[]): End[] {
  const sorted = [...rows].sort((one, other) => +instant(one[at]) - +instant(other[at]))
  const ends = new Map<string, End>()
  for (const [name, last] of new Map(sorted.map((row) => [text(row[kind]), row]))) {
    const end = ends.get(text(last[value])) ?? { last, kinds: [] }
    end.kinds.push(name)
    ends.set(text(last[value]), end)
  }
  return [...ends.values()]
}

function shortDay(date: Date): string {
  return date.toLocaleDateString('en-GB', { timeZone: 'UTC', day: 'numeric', month: 'short' })
}

/** The width of a letter, on average. */
const LETTER_PX = 6.2

function drawSpans(
  picture: Of<'spans'>,
  rows: readonly PanelRow[],
  { width, now }: PictureOptions,
): Plot.PlotOptions {
  const { from, to, name, kind, label } = picture
  const colours = coloursOf(picture, rows)
  const names = [...new Set(rows.map((row) => text(row[name])))]
  return {
    height: 40 + 26 * names.length,
    marginLeft: Math.min(
      width / 2,
      20 + LETTER_PX * Math.max(...names.map(({ length }) => length)),
    ),
    x: { type: 'utc', label: null, ticks: width < 450 ? 3 : 6, grid: true },
    y: { domain: names, label: null },
    marks: [
      Plot.barX(rows, {
        x1: (row: PanelRow) => instant(row[from]),
        x2: (row: PanelRow) => (row[to] === null ? now : instant(row[to])),
        y: (row: PanelRow) => text(row[name]),
        inset: 2,
        fill: (row: PanelRow) => colours.get(text(row[kind])),
        title: (row: PanelRow) => `${text(row[name])}: ${text(row[label])}`,
      }),
      Plot.ruleX([now], { stroke: 'var(--bad)', strokeDasharray: '3,3' }),
    ],
    color: { type: 'identity' },
  }
}

function text(value: unknown): string {
  return typeof value === 'string' || typeof value === 'number' ? String(value) : 'unknown'
}

/** A calendar day is drawn at its midnight UTC, in every time zone. */
function instant(value: unknown): Date {
  return new Date(
    text(value)
      .replace(/(:\d\d\S*[+-]\d\d)$/, '$1:00')
      .replace(' ', 'T'),
  )
}

function day(value: unknown, every: 'day' | 'hour'): string {
  return text(value).slice(0, every === 'day' ? 10 : 16)
}
