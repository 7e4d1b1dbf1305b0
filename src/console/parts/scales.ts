/** Places values on a line of pixels. A whole scale package would cost a seventh of the first view. */
export interface LinearScale {
  /** The pixel of a value. */
  at(value: number): number;
  /** Round values from 0 to the end of the scale. */
  readonly ticks: readonly number[];
}

/** Places whole numbers in bands of one width. */
export interface BandScale {
  /** Width of a place with its gap. */
  readonly step: number;
  /** Width of what is drawn in it. */
  readonly width: number;
  /** The left pixel of what is drawn at a place. */
  at(place: number): number;
  /** The place of a pixel, from 0 to the last. */
  placeOf(pixel: number): number;
}

/** One layer of a bar. */
export interface Layer {
  readonly place: number;
  readonly from: number;
  readonly to: number;
}

const GAP = 0.22;
/** The widest bar in pixels: one day alone is no wall. */
const BAR_MAX = 72;

interface LinearOptions {
  /** The most that is drawn. */
  readonly most: number;
  /** Whether values are counts, which have no tick between 0 and 1. */
  readonly isWhole: boolean;
}

/** The most steps of a scale. */
const STEPS = 4;

/** A scale from 0 to `most` or the next round value. `start` is the pixel of 0. */
export function linearScale(
  { most, isWhole }: LinearOptions,
  [start, end]: readonly [number, number],
): LinearScale {
  const step = roundStep((most > 0 ? most : 1) / STEPS, isWhole);
  const steps = Math.max(1, Math.ceil((most > 0 ? most : 1) / step - 1e-9));
  const top = step * steps;
  return {
    at: (value) => start + (value / top) * (end - start),
    ticks: Array.from({ length: steps + 1 }, (_, index) => index * step),
  };
}

/** The next of 1, 2, 2.5 and 5 times a power of ten. */
function roundStep(rough: number, isWhole: boolean): number {
  const power = 10 ** Math.floor(Math.log10(rough));
  const steps = [1, 2, 2.5, 5, 10].map((factor) => factor * power);
  const fits = (step: number) => rough <= step * (1 + 1e-9) && (!isWhole || Number.isInteger(step));
  return steps.find(fits) ?? 10 * power;
}

export function bandScale(count: number, [start, end]: readonly [number, number]): BandScale {
  const step = Math.max(0, end - start) / Math.max(1, count);
  const width = Math.min(step * (1 - GAP), BAR_MAX);
  return {
    step,
    width,
    at: (place) => start + place * step + (step - width) / 2,
    placeOf: (pixel) => Math.min(Math.max(Math.floor((pixel - start) / step), 0), Math.max(0, count - 1)),
  };
}

/** Stacks series on each other, place by place; a layer of 0 is left out. */
export function stackLayers(series: readonly { readonly values: readonly number[] }[]): readonly Layer[][] {
  const heights: number[] = [];
  return series.map(({ values }) =>
    values.flatMap((value, place) => {
      const from = heights[place] ?? 0;
      const to = from + value;
      heights[place] = to;
      return value > 0 ? [{ place, from, to }] : [];
    }),
  );
}

/** Steps between labelled hours of a day; from 24 on only first hours of days are labelled. */
const HOUR_STEPS = [1, 2, 3, 6, 12, 24];

/**
 * Chooses at most `room` evenly spaced places to label. Among hours, these are hours of the day that the
 * step divides, so that midnight is one of them.
 */
export function choosePlaces(places: readonly { readonly hour?: number }[], room: number): readonly number[] {
  const all = places.map((_, index) => index);
  const roomy = Math.max(1, room);
  if (places.every(({ hour }) => hour === undefined)) return thinOut(all, roomy);
  const ofStep = (step: number) => all.filter((index) => (places[index]?.hour ?? 0) % step === 0);
  const step = HOUR_STEPS.find((each) => ofStep(each).length <= roomy);
  return thinOut(ofStep(step ?? 24), roomy);
}

/** Places at equal distances, at most `room` of them, the first included. */
function thinOut(all: readonly number[], room: number): readonly number[] {
  const each = Math.max(1, Math.ceil(all.length / room));
  return all.filter((_, index) => index % each === 0);
}
