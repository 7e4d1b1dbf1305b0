import { Bar, Line, LinePath } from "@visx/shape";
import {
  type KeyboardEvent,
  type PointerEvent,
  type RefObject,
  useLayoutEffect,
  useRef,
  useState,
} from "react";
import styles from "./chart.module.css";
import { CHART_HEIGHT, type ChartProps, fillOf, SERIES_MAX } from "./chart-parts.ts";
import {
  type BandScale,
  bandScale,
  choosePlaces,
  type LinearScale,
  linearScale,
  stackLayers,
} from "./scales.ts";

interface DrawingProps extends ChartProps {
  /** The place that is read; `undefined` for none. */
  readonly index: number | undefined;
  readonly onRead: (index: number | undefined) => void;
}

interface Scales {
  readonly x: BandScale;
  readonly y: LinearScale;
  /** The pixel at which the places begin, right of the amounts. */
  readonly left: number;
  readonly width: number;
  readonly height: number;
}

type LayerProps = ChartProps & { readonly scales: Scales };

const MARGIN = { top: 8, right: 4, bottom: 26 };
/** The widest digit of the labels, in pixels. */
const DIGIT_WIDTH = 7.2;
const LABEL_GAP = 14;
const LEFT_MIN = 28;
const FIRST_WIDTH = 640;
const WIDTH_MIN = 200;
const TICKS = 4;

/** The picture of a chart. */
export function ChartDrawing(props: DrawingProps) {
  const { label, places, index, onRead, height = CHART_HEIGHT } = props;
  const box = useRef<HTMLDivElement>(null);
  const width = useWidth(box);
  const scales = createScales(props, { width, height });
  const read = ({ clientX, currentTarget }: PointerEvent<SVGSVGElement>) =>
    onRead(scales.x.placeOf(clientX - currentTarget.getBoundingClientRect().left));
  return (
    <div ref={box} className={styles.drawing}>
      <svg
        role="img"
        aria-label={`${label} Arrow keys move the reading.`}
        tabIndex={0}
        width={width}
        height={height}
        onPointerDown={read}
        onPointerMove={read}
        // A finger that is lifted leaves its reading until the next touch elsewhere.
        onPointerLeave={({ pointerType }) => pointerType === "touch" || onRead(undefined)}
        onBlur={() => onRead(undefined)}
        onKeyDown={(event) => onRead(moveReading(event, index, places.length))}
      >
        <Grid {...props} scales={scales} />
        {index !== undefined && <Pointer index={index} scales={scales} />}
        {props.kind === "bars" ? <Bars {...props} scales={scales} /> : <Lines {...props} scales={scales} />}
        <Marks {...props} scales={scales} />
      </svg>
    </div>
  );
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
          <Line
            className={styles.grid ?? ""}
            from={{ x: left, y: y.at(tick) }}
            to={{ x: width, y: y.at(tick) }}
          />
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

function Pointer({
  index,
  scales: { x, left, height },
}: {
  readonly index: number;
  readonly scales: Scales;
}) {
  return (
    <Bar
      className={styles.pointer ?? ""}
      x={left + index * x.step}
      y={MARGIN.top}
      width={x.step}
      height={Math.max(0, height - MARGIN.top - MARGIN.bottom)}
    />
  );
}

function Bars({ series, scales: { x, y } }: LayerProps) {
  return stackLayers(series).map((layers, place) => (
    <g key={series[place]?.id} className={series[place] && fillOf(series[place], place)}>
      {layers.map((layer) => (
        <Bar
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
    <LinePath
      key={id}
      className={`${styles.line} ${styles[`stroke${(place % SERIES_MAX) + 1}`]}`}
      data={values.map((value, index) => ({ value, index }))}
      x={({ index }) => x.at(index) + x.width / 2}
      y={({ value }) => y.at(value)}
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
  const y = linearScale(most, [height - MARGIN.bottom, MARGIN.top], TICKS);
  const left = Math.max(LEFT_MIN, Math.ceil(widthOf(y.ticks.map(format))) + LABEL_GAP);
  return { x: bandScale(places.length, [left, width - MARGIN.right]), y, left, width, height };
}

function moveReading(event: KeyboardEvent, index: number | undefined, count: number): number | undefined {
  const last = count - 1;
  const next: Readonly<Record<string, number | undefined>> = {
    ArrowLeft: index === undefined ? last : Math.max(0, index - 1),
    ArrowRight: index === undefined ? 0 : Math.min(last, index + 1),
    Home: 0,
    End: last,
    Escape: undefined,
  };
  if (!(event.key in next)) return index;
  event.preventDefault();
  return next[event.key];
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
