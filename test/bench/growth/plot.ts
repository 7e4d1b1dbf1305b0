/** A figure of panels side by side, with one horizontal axis of named steps. */
export interface Plot {
  readonly title: string;
  /** Such as "keys", or "size of a request body". */
  readonly xLabel: string;
  /** One label for each point of a series. */
  readonly steps: readonly string[];
  readonly panels: readonly Panel[];
  /** Machine and date, below the panels. */
  readonly caption: string;
}

export interface Panel {
  /** What is plotted, with its unit. */
  readonly yLabel: string;
  /** A logarithmic axis shows values of several magnitudes; a linear axis begins at 0. */
  readonly isLogarithmic: boolean;
  readonly series: readonly Series[];
}

interface Series {
  readonly name: string;
  /** The first series is emphasised, and its values are printed. */
  readonly values: readonly number[];
}

const WIDTH = 760;
const HEIGHT = 300;
const TOP = 62;
const BOTTOM = 226;
const SIDE = 56;
const GAP = 60;

const STYLE = `
    text { font: 11px system-ui, sans-serif; fill: #424a53; }
    .title { font-size: 14px; font-weight: 600; fill: #1f2328; }
    .value { fill: #0550ae; stroke: #ffffff; stroke-width: 3px; paint-order: stroke; }
    .page { fill: #ffffff; }
    .grid { stroke: #d1d9e0; stroke-width: 1; }
    .line { fill: none; stroke-width: 2; }
    .series0 { stroke: #0969da; } .dot0 { fill: #0969da; }
    .series1 { stroke: #8c959f; stroke-dasharray: 4 3; } .dot1 { fill: #8c959f; }
    @media (prefers-color-scheme: dark) {
      text { fill: #b1bac4; } .title { fill: #f0f6fc; } .value { fill: #79c0ff; stroke: #0d1117; } .page { fill: #0d1117; }
      .grid { stroke: #30363d; } .series0 { stroke: #58a6ff; } .dot0 { fill: #58a6ff; }
      .series1 { stroke: #8b949e; } .dot1 { fill: #8b949e; }
    }`;

/** Draws an SVG that is readable on light and dark pages. At most two series per panel. */
export function drawPlot({ title, xLabel, steps, panels, caption }: Plot): string {
  const panelWidth = (WIDTH - SIDE - 20 - GAP * (panels.length - 1)) / panels.length;
  const drawn = panels.map((panel, index) => {
    const left = SIDE + index * (panelWidth + GAP);
    return drawPanel(panel, { left, right: left + panelWidth, steps, xLabel });
  });
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${HEIGHT}" width="${WIDTH}" height="${HEIGHT}" role="img">`,
    `  <title>${escapeText(title)}</title>`,
    `  <style>${STYLE}\n  </style>`,
    `  <rect class="page" width="${WIDTH}" height="${HEIGHT}" rx="6"/>`,
    text({ x: 16, y: 24, className: "title" }, title),
    ...drawn.flat(),
    text({ x: 16, y: HEIGHT - 12 }, caption),
    "</svg>\n",
  ].join("\n");
}

interface Frame {
  readonly left: number;
  readonly right: number;
  readonly steps: readonly string[];
  readonly xLabel: string;
}

function drawPanel(panel: Panel, { left, right, steps, xLabel }: Frame): readonly string[] {
  const ticks = ticksOf(panel);
  const scale = scaleOf(ticks, panel.isLogarithmic);
  const inset = 24;
  const gap = (right - left - 2 * inset) / Math.max(1, steps.length - 1);
  const xOf = (at: number) => round(left + inset + gap * at);
  return [
    text({ x: left - 40, y: TOP - 16 }, panel.yLabel),
    ...ticks.flatMap((tick) => [
      `  <line class="grid" x1="${round(left)}" x2="${round(right)}" y1="${scale(tick)}" y2="${scale(tick)}"/>`,
      text({ x: left - 6, y: scale(tick) + 4, anchor: "end" }, printNumber(tick)),
    ]),
    ...steps.map((step, at) => text({ x: xOf(at), y: BOTTOM + 18, anchor: "middle" }, step)),
    text({ x: (left + right) / 2, y: BOTTOM + 38, anchor: "middle" }, xLabel),
    ...panel.series.toReversed().flatMap((series, fromLast) => {
      const at = panel.series.length - 1 - fromLast;
      return drawSeries(series, { at, xOf, scale });
    }),
    ...drawLegend(panel.series, right),
  ];
}

interface SeriesFrame {
  readonly at: number;
  xOf(step: number): number;
  scale(value: number): number;
}

function drawSeries({ values }: Series, { at, xOf, scale }: SeriesFrame): readonly string[] {
  const points = values.map((value, step) => ({ value, x: xOf(step), y: scale(value) }));
  const path = points.map(({ x, y }) => `${x},${y}`).join(" ");
  return [
    `  <polyline class="line series${at}" points="${path}"/>`,
    ...points.map(({ x, y }) => `  <circle class="dot${at}" cx="${x}" cy="${y}" r="3"/>`),
    ...(at > 0
      ? []
      : points.map(({ value, x, y }) =>
          text({ x, y: y - 8, anchor: "middle", className: "value" }, printNumber(value)),
        )),
  ];
}

function drawLegend(series: readonly Series[], right: number): readonly string[] {
  return series.flatMap(({ name }, at) => {
    const x = right - 76 * (series.length - at);
    return [
      `  <line class="line series${at}" x1="${round(x)}" x2="${round(x + 18)}" y1="${TOP - 20}" y2="${TOP - 20}"/>`,
      text({ x: x + 23, y: TOP - 16 }, name),
    ];
  });
}

/** Values of the grid lines, ascending: decades, or about five equal steps from 0. */
export function ticksOf({
  series,
  isLogarithmic,
}: Pick<Panel, "series" | "isLogarithmic">): readonly number[] {
  const values = series.flatMap((each) => each.values);
  const max = Math.max(...values);
  if (!isLogarithmic) {
    const step = niceStep(max / 5);
    return Array.from({ length: Math.ceil(max / step) + 1 }, (_, index) => round(index * step));
  }
  const low = Math.floor(Math.log10(Math.min(...values)));
  const high = Math.max(low + 1, Math.ceil(Math.log10(max)));
  return Array.from({ length: high - low + 1 }, (_, index) => Number(`1e${low + index}`));
}

/** The smallest of 1, 2, 5 and 10 times a power of ten that is at least `least`. */
function niceStep(least: number): number {
  const power = 10 ** Math.floor(Math.log10(least));
  return ([1, 2, 5, 10].find((factor) => factor * power >= least) ?? 10) * power;
}

function scaleOf(ticks: readonly number[], isLogarithmic: boolean): (value: number) => number {
  const position = isLogarithmic ? Math.log10 : (value: number) => value;
  const low = position(ticks[0] ?? 0);
  const high = position(ticks.at(-1) ?? 1);
  return (value) => round(BOTTOM - ((position(value) - low) / (high - low)) * (BOTTOM - TOP));
}

/** Three significant digits; thousands as "K". */
export function printNumber(value: number): string {
  if (value >= 1000) return `${Number((value / 1000).toPrecision(3))}K`;
  return `${Number(value.toPrecision(3))}`;
}

interface TextPlace {
  readonly x: number;
  readonly y: number;
  readonly anchor?: "middle" | "end";
  readonly className?: string;
}

function text({ x, y, anchor, className }: TextPlace, content: string): string {
  const attributes = [
    className && ` class="${className}"`,
    ` x="${round(x)}" y="${round(y)}"`,
    anchor && ` text-anchor="${anchor}"`,
  ];
  return `  <text${attributes.filter(Boolean).join("")}>${escapeText(content)}</text>`;
}

function escapeText(content: string): string {
  return content.replaceAll("&", "&amp;").replaceAll("<", "&lt;");
}

function round(value: number): number {
  return Math.round(value * 100) / 100;
}
