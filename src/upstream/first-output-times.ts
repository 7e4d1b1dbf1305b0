/** A figure that is older is measured again, by one request. */
const FRESH_MS = 60_000;
/** A slow figure stays fresh for so many times itself, so that few requests pay for its measurement. */
const FRESH_FACTOR = 10;
/** Time in which one request at a time is sent to measure. */
const MEASURING_MS = 10_000;
/** The least weight of a new measurement. */
const WEIGHT_MIN = 0.2;

/** The moving average of one model's times, for whole answers or for streams. */
interface Figure {
  averageMs: number | undefined;
  measuredAtMs: number;
  /** When a request was last sent to measure. */
  triedAtMs: number;
}

/**
 * The times from call to first output of one key, as moving averages by the upstream's name of the model.
 * Older measurements lose their weight with a half-life of about 40 seconds, so that one slow start is soon
 * forgotten.
 */
export interface FirstOutputTimes {
  /**
   * Returns the average in milliseconds. Returns 0 when the next request should measure: there is no figure,
   * or it is old, and no request measures now. Returns Infinity while the first one measures.
   */
  expectedMs(model: string, isStream: boolean): number;
  /** Records that a request is sent which may measure. */
  tried(model: string, isStream: boolean): void;
  /** Records a time, or how long a request waited in vain. */
  measured(model: string, isStream: boolean, ms: number): void;
}

/** `clock` is in milliseconds and monotonic. The models are those of the configuration, so they are few. */
export function createFirstOutputTimes(clock: () => number): FirstOutputTimes {
  const figures = new Map<string, Figure>();

  function figureOf(model: string, isStream: boolean): Figure {
    const name = isStream ? model : `${model}\0whole`;
    const known = figures.get(name);
    if (known) return known;
    const figure = { averageMs: undefined, measuredAtMs: -Infinity, triedAtMs: -Infinity };
    figures.set(name, figure);
    return figure;
  }

  return {
    expectedMs(model, isStream) {
      const { averageMs, measuredAtMs, triedAtMs } = figureOf(model, isStream);
      const nowMs = clock();
      const isMeasuring = nowMs - triedAtMs < MEASURING_MS;
      if (averageMs === undefined) return isMeasuring ? Number.POSITIVE_INFINITY : 0;
      const isFresh = nowMs - measuredAtMs < Math.max(FRESH_MS, averageMs * FRESH_FACTOR);
      return isFresh || isMeasuring ? averageMs : 0;
    },
    tried(model, isStream) {
      figureOf(model, isStream).triedAtMs = clock();
    },
    measured(model, isStream, ms) {
      const figure = figureOf(model, isStream);
      const nowMs = clock();
      const aged = 1 - Math.exp((figure.measuredAtMs - nowMs) / FRESH_MS);
      const weight = Math.max(aged, WEIGHT_MIN);
      figure.averageMs =
        figure.averageMs === undefined ? ms : figure.averageMs + (ms - figure.averageMs) * weight;
      figure.measuredAtMs = nowMs;
    },
  };
}
