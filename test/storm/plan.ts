import {
  createDraw,
  drawInteger,
  drawOne,
  drawWeighted,
  type RandomSource,
} from "../support/seeded-random.ts";

/** The rates of faults. Together with its number they decide everything about a request. */
export interface StormConditions {
  readonly seed: string;
  /** Share of the calls that an upstream answers well, from 0 to 1. */
  readonly goodAnswers: number;
  /** Share of the clients that read an answer to its end without pauses, from 0 to 1. */
  readonly steadyReaders: number;
}

/** The behaviour of a client. */
export type ClientBehavior =
  | { readonly kind: "reads" }
  /** Pauses after each of the first pieces. */
  | { readonly kind: "reads_slowly"; readonly pauseMs: number }
  | { readonly kind: "leaves_after_ms"; readonly ms: number }
  | { readonly kind: "leaves_after_pieces"; readonly pieces: number };

/** A request, as its number decides it. */
export interface Plan {
  readonly number: number;
  readonly surface: "chat" | "messages";
  readonly stream: boolean;
  readonly model: string;
  /** A number from 0 to 1 that selects the paying key. */
  readonly key: number;
  readonly clientBehavior: ClientBehavior;
  readonly body: string;
}

/** The names of the flaky upstreams. */
export const UPSTREAMS = ["a", "b", "c"] as const;

export type UpstreamName = (typeof UPSTREAMS)[number];

/** The routes of each model: by priority, by weight, and by both. */
export const MODELS: Readonly<
  Record<string, readonly { upstream: UpstreamName; priority: number; weight: number }[]>
> = {
  "in-order": [
    { upstream: "a", priority: 1, weight: 1 },
    { upstream: "b", priority: 2, weight: 1 },
    { upstream: "c", priority: 3, weight: 1 },
  ],
  "by-weight": [
    { upstream: "a", priority: 1, weight: 1 },
    { upstream: "b", priority: 1, weight: 2 },
    { upstream: "c", priority: 1, weight: 3 },
  ],
  "in-two-ranks": [
    { upstream: "c", priority: 1, weight: 1 },
    { upstream: "b", priority: 2, weight: 3 },
    { upstream: "a", priority: 2, weight: 1 },
  ],
};

/** Returns the plan of the request with this number. */
export function planOf({ seed, steadyReaders }: StormConditions, number: number): Plan {
  const draw = createDraw(seed, "request", number);
  const surface = drawOne(draw, ["chat", "messages"] as const);
  const stream = draw() < 0.5;
  const model = drawOne(draw, Object.keys(MODELS));
  const asksForUsage = draw() < 0.5;
  const body = JSON.stringify({
    model,
    messages: [{ role: "user", content: `storm ${number}: say something.` }],
    max_tokens: OUTPUT_TOKENS_MAX,
    stream,
    ...(surface === "chat" && stream && asksForUsage && { stream_options: { include_usage: true } }),
  });
  return {
    number,
    surface,
    stream,
    model,
    key: draw(),
    clientBehavior: drawBehavior(draw, steadyReaders),
    body,
  };
}

/** More than any upstream reports, so that every hold is large enough. */
export const OUTPUT_TOKENS_MAX = 1_000_000;

/** Returns the number of a request that an upstream got. Throws for an unknown body. */
export function requestNumberOf(body: string): number {
  const number = /"storm (\d+): /.exec(body)?.[1];
  if (number === undefined) throw new Error("An upstream got a request without its number");
  return Number(number);
}

function drawBehavior(draw: RandomSource, steadyReaders: number): ClientBehavior {
  if (draw() < steadyReaders) return { kind: "reads" };
  const kind = drawWeighted(draw, BEHAVIORS);
  return kind.of(draw);
}

const BEHAVIORS: readonly { readonly weight: number; of(draw: RandomSource): ClientBehavior }[] = [
  { weight: 2, of: (draw) => ({ kind: "reads_slowly", pauseMs: drawInteger(draw, 1, 8) }) },
  // Usually before the first output.
  { weight: 2, of: (draw) => ({ kind: "leaves_after_ms", ms: drawInteger(draw, 0, 20) }) },
  // Usually during a pause, if there is one.
  { weight: 2, of: (draw) => ({ kind: "leaves_after_ms", ms: drawInteger(draw, 40, 400) }) },
  { weight: 3, of: (draw) => ({ kind: "leaves_after_pieces", pieces: drawInteger(draw, 1, 6) }) },
];

/** A time during which an upstream does not listen. */
export interface Outage {
  readonly upstream: UpstreamName;
  /** The numbers of the requests before which the outage begins and ends. */
  readonly from: number;
  readonly to: number;
}

/** One outage per 2,000 requests, of one upstream at a time. */
export function outagesOf({ seed }: StormConditions, first: number, count: number): readonly Outage[] {
  return Array.from({ length: Math.floor(count / OUTAGE_EVERY) }, (_, index) => {
    const draw = createDraw(seed, "outage", first, index);
    const from = first + index * OUTAGE_EVERY + drawInteger(draw, 0, OUTAGE_EVERY / 2);
    return { upstream: drawOne(draw, UPSTREAMS), from, to: from + drawInteger(draw, 50, 300) };
  });
}

const OUTAGE_EVERY = 2_000;
