import { useNavigate } from "@tanstack/react-router";
import { type KeyboardEvent, type PointerEvent, useRef } from "react";
import type { ChartProps, Span } from "./chart-parts.ts";
import { type BandScale, type LinearScale, stackLayers } from "./scales.ts";

export interface DrawingProps extends ChartProps {
  /** The places that are read; `undefined` for none. */
  readonly span: Span | undefined;
  readonly onRead: (span: Span | undefined) => void;
}

/** Where the values and places of a chart are drawn. */
export interface Scales {
  readonly x: BandScale;
  readonly y: LinearScale;
  /** The pixel at which the places begin, right of the amounts. */
  readonly left: number;
  readonly width: number;
  readonly height: number;
}

/** Reads, marks and opens places, by pointer and by keys. A finger reads by its first touch, and opens by its second. */
export function useControls(props: DrawingProps, scales: Scales) {
  const { places, span, onRead, placeLink, rangeLink } = props;
  const navigate = useNavigate();
  /** Where a drag has begun. */
  const anchor = useRef<number>(undefined);
  const mark = useRef<number>(undefined);
  /** Whether a finger touches the place that is read already. */
  const isSecond = useRef(false);
  const open = ({ first, last }: Span, series?: string) => {
    const link = first === last ? placeLink?.(first, series) : rangeLink?.(first, last);
    if (link) void navigate(link as never);
  };
  const placeAt = ({ clientX, currentTarget }: PointerEvent<SVGSVGElement>) =>
    scales.x.placeOf(clientX - currentTarget.getBoundingClientRect().left);
  return {
    onPointerDown: (event: PointerEvent<SVGSVGElement>) => {
      const place = placeAt(event);
      isSecond.current = span?.first === place && span.last === place;
      if (event.button !== 0) return;
      anchor.current = place;
      if (event.pointerType !== "touch") event.currentTarget.setPointerCapture(event.pointerId);
      onRead({ first: place, last: place });
    },
    onPointerMove: (event: PointerEvent<SVGSVGElement>) => {
      const place = placeAt(event);
      const isDrag = rangeLink && anchor.current !== undefined && event.pointerType !== "touch";
      onRead(spanOf(isDrag ? anchor.current : place, place));
    },
    onPointerUp: (event: PointerEvent<SVGSVGElement>) => {
      const place = placeAt(event);
      const isTouch = event.pointerType === "touch";
      const begun = anchor.current;
      anchor.current = undefined;
      if (begun === undefined || (isTouch && !isSecond.current)) return;
      const top = event.clientY - event.currentTarget.getBoundingClientRect().top;
      open(spanOf(isTouch ? place : begun, place), seriesAt(props, scales, { place, top }));
    },
    onPointerCancel: () => {
      anchor.current = undefined;
    },
    // A finger that is lifted leaves its reading until the next touch elsewhere.
    onPointerLeave: ({ pointerType }: PointerEvent) => pointerType === "touch" || onRead(undefined),
    onBlur: () => onRead(undefined),
    onKeyDown: (event: KeyboardEvent) => {
      if (event.key === "Enter" && span) open(span);
      if (event.key === "Shift") return;
      mark.current = rangeLink && event.shiftKey ? (mark.current ?? span?.first) : undefined;
      onRead(moveReading(event, span, { count: places.length, mark: mark.current }));
    },
  };
}

function spanOf(one = 0, other = 0): Span {
  return { first: Math.min(one, other), last: Math.max(one, other) };
}

/** The series whose layer is drawn at a pixel; `undefined` beside the layers. */
function seriesAt(
  { kind, series }: ChartProps,
  { y }: Scales,
  { place, top }: { readonly place: number; readonly top: number },
): string | undefined {
  if (kind !== "bars") return undefined;
  const layers = stackLayers(series).map((each) => each.find((layer) => layer.place === place));
  const found = layers.findIndex((layer) => layer && y.at(layer.to) <= top && top <= y.at(layer.from));
  return series[found]?.id;
}

interface Reach {
  readonly count: number;
  /** Where a range that Shift marks has begun; `undefined` for a reading of one place. */
  readonly mark: number | undefined;
}

function moveReading(event: KeyboardEvent, span: Span | undefined, { count, mark }: Reach): Span | undefined {
  const end = count - 1;
  // The end that moves is the one away from the mark.
  const head = span?.last === mark ? span?.first : span?.last;
  const next: Readonly<Record<string, number | undefined>> = {
    ArrowLeft: head === undefined ? end : Math.max(0, head - 1),
    ArrowRight: head === undefined ? 0 : Math.min(end, head + 1),
    Home: 0,
    End: end,
    Escape: undefined,
  };
  if (!(event.key in next)) return span;
  event.preventDefault();
  const place = next[event.key];
  return place === undefined ? undefined : spanOf(mark ?? place, place);
}
