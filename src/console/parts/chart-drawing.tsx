import { type RefObject, useLayoutEffect, useRef, useState } from "react";
import styles from "./chart.module.css";
import { type DrawingProps, type Scales, useControls } from "./chart-controls.ts";
import { CHART_HEIGHT, type ChartProps, fillOf, SERIES_MAX, type Span } from "./chart-parts.ts";
import { bandScale, choosePlaces, linearScale, stackLayers } from "./scales.ts";

type LayerProps = ChartProps & { readonly scales: Scales };

const MARGIN = { top: 8, right: 4, bottom: 26 };
/** The widest digit of the labels, in pixels. */
const DIGIT_WIDTH = 7.2;
const LABEL_GAP = 14;
const LEFT_MIN = 28;
const FIRST_WIDTH = 640;
const WIDTH_MIN = 200;

/** The picture of a chart. */
export function ChartDrawing(props: DrawingProps) {
  const { span, height = CHART_HEIGHT } = props;
  const box = useRef<HTMLDivElement>(null);
  const width = useWidth(box);
  const scales = createScales(props, { width, height });
  return (
    <div ref={box} className={styles.drawing}>
      <svg
        role="img"
        aria-label={describeChart(props)}
        tabIndex={0}
        width={width}
        height={height}
        data-leads={props.placeLink !== undefined}
        {...useControls(props, scales)}
      >
        <Grid {...props} scales={scales} />
        {span && <Pointer span={span} scales={scales} />}
        {props.kind === "bars" ? <Bars {...props} scales={scales} /> : <Lines {...props} scales={scales} />}
        <Marks {...props} scales={scales} />
      </svg>
    </div>
  );
}

function describeChart({ label, placeLink, rangeLink }: ChartProps): string {
  const range = rangeLink ? " With Shift they mark a range." : "";
  return `${label} Arrow keys move the reading.${range}${placeLink || rangeLink ? " Enter opens it." : ""}`;
}

function Grid({ places, format, scales }: LayerProps) {
  const { x, y, left, width, height } = scales;
  const textWidth = widthOf(places.map(({ foot }) => foot));
  const room = Math.floor((width - left) / (textWidth + LABEL_GAP));
  // The last label may be wider than its bar, and stays inside.
  const centreOf = (place: number) => Math.min(x.at(place) + x.width / 2, width - textWidth / 2);
  return (
    <g className={styles.axis}>
      {y.ticks.map((tick) => (
        <g key={tick}>
          <line className={styles.grid} x1={left} x2={width} y1={y.at(tick)} y2={y.at(tick)} />
          <text x={left - 10} y={y.at(tick) + 4} textAnchor="end">
            {format(tick)}
          </text>
        </g>
      ))}
      {choosePlaces(places, room).map((place) => (
        <text key={place} x={centreOf(place)} y={height - 8} textAnchor="middle">
          {places[place]?.foot}
        </text>
      ))}
    </g>
  );
}

function widthOf(texts: readonly string[]): number {
  return Math.max(0, ...texts.map((text) => text.length)) * DIGIT_WIDTH;
}

interface PointerProps {
  readonly span: Span;
  readonly scales: Scales;
}

function Pointer({ span: { first, last }, scales: { x, left, height } }: PointerProps) {
  return (
    <rect
      className={styles.pointer}
      x={left + first * x.step}
      y={MARGIN.top}
      width={x.step * (last - first + 1)}
      height={Math.max(0, height - MARGIN.top - MARGIN.bottom)}
    />
  );
}

function Bars({ series, scales: { x, y } }: LayerProps) {
  return stackLayers(series).map((layers, place) => (
    <g key={series[place]?.id} className={series[place] && fillOf(series[place], place)}>
      {layers.map((layer) => (
        <rect
          key={layer.place}
          x={x.at(layer.place)}
          y={y.at(layer.to)}
          width={x.width}
          height={withGap(y.at(layer.from) - y.at(layer.to))}
        />
      ))}
    </g>
  ));
}

/** Layers are parted by a pixel where they are high enough: colours alone do not part them for every reader. */
function withGap(height: number): number {
  return Math.max(0, height > 3 ? height - 1 : height);
}

function Lines({ series, scales: { x, y } }: LayerProps) {
  return series.map(({ id, values }, place) => (
    <path
      key={id}
      className={`${styles.line} ${styles[`stroke${(place % SERIES_MAX) + 1}`]}`}
      d={values
        .map((value, index) => `${index === 0 ? "M" : "L"}${x.at(index) + x.width / 2},${y.at(value)}`)
        .join("")}
    />
  ));
}

function Marks({ marks = [], scales: { x } }: LayerProps) {
  return marks.map((place) => (
    <circle key={place} className={styles.mark} cx={x.at(place) + x.width / 2} cy={MARGIN.top - 3} r={3} />
  ));
}

function createScales(
  { kind, places, series, format }: ChartProps,
  { width, height }: { readonly width: number; readonly height: number },
): Scales {
  const sums = places.map((_, index) => {
    const values = series.map((each) => each.values[index] ?? 0);
    return kind === "bars" ? values.reduce((sum, value) => sum + value, 0) : Math.max(0, ...values);
  });
  const most = sums.reduce((highest, sum) => Math.max(highest, sum), 0);
  const isWhole = sums.every(Number.isInteger);
  const y = linearScale({ most, isWhole }, [height - MARGIN.bottom, MARGIN.top]);
  const left = Math.max(LEFT_MIN, Math.ceil(widthOf(y.ticks.map(format))) + LABEL_GAP);
  return { x: bandScale(places.length, [left, width - MARGIN.right]), y, left, width, height };
}

function useWidth(box: RefObject<HTMLDivElement | null>): number {
  const [width, setWidth] = useState(FIRST_WIDTH);
  // Before the first paint, so that no chart is seen at another width.
  useLayoutEffect(() => {
    if (!box.current) return;
    const take = (pixels: number) => setWidth(Math.max(WIDTH_MIN, Math.floor(pixels)));
    take(box.current.clientWidth);
    const observer = new ResizeObserver(([entry]) => entry && take(entry.contentRect.width));
    observer.observe(box.current);
    return () => observer.disconnect();
  }, [box]);
  return width;
}
