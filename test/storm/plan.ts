import {
  createDraw,
  drawInteger,
  drawOne,
  drawWeighted,
  type RandomSource,
} from "../support/seeded-random.ts";

/** How bad it gets. With a number of a request it decides everything about that request. */
export interface StormConditions {
  readonly seed: string;
  /** The share of calls that an upstream answers well, from 0 to 1. */
  readonly good: number;
  /** The share of clients that read an answer to its end as it comes. */
  readonly patient: number;
}

/** What a client does with its request. */
export type ClientBehavior =
  | { readonly kind: "reads" }
  /** Waits so long between the first pieces. */
  | { readonly kind: "reads_slowly"; readonly pauseMs: number }
  | { readonly kind: "leaves_after_ms"; readonly ms: number }
  | { readonly kind: "leaves_after_pieces"; readonly pieces: number };

/** One request, as its number decides it. */
export interface Plan {
  readonly number: number;
  readonly surface: "chat" | "messages";
  readonly stream: boolean;
  readonly model: string;
  /** From 0 up to 1: which of the keys pays. */
  readonly key: number;
  readonly clientBehavior: ClientBehavior;
  readonly body: string;
}

/** The flaky upstreams. */
export const UPSTREAMS = ["a", "b", "c"] as const;

export type UpstreamName = (typeof UPSTREAMS)[number];

/** The routes of each model: by order, by chance, and both. */
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

/** What the request of a number is. */
export function planOf({ seed, patient }: StormConditions, number: number): Plan {
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
  return { number, surface, stream, model, key: draw(), clientBehavior: drawBehavior(draw, patient), body };
}

/** More than any upstream reports, so that the hold of a request covers it. */
export const OUTPUT_TOKENS_MAX = 1_000_000;

/** The number of the request that an upstream got. Throws when its body is not one of ours. */
export function requestNumberOf(body: string): number {
  const number = /"storm (\d+): /.exec(body)?.[1];
  if (number === undefined) throw new Error("An upstream got a request without its number");
  return Number(number);
}

function drawBehavior(draw: RandomSource, patient: number): ClientBehavior {
  if (draw() < patient) return { kind: "reads" };
  const kind = drawWeighted(draw, BEHAVIORS);
  return kind.of(draw);
}

const BEHAVIORS: readonly { readonly weight: number; of(draw: RandomSource): ClientBehavior }[] = [
  { weight: 2, of: (draw) => ({ kind: "reads_slowly", pauseMs: drawInteger(draw, 1, 8) }) },
  // Before there is anything to read, as a rule.
  { weight: 2, of: (draw) => ({ kind: "leaves_after_ms", ms: drawInteger(draw, 0, 20) }) },
  // Within a silence, when there is one.
  { weight: 2, of: (draw) => ({ kind: "leaves_after_ms", ms: drawInteger(draw, 40, 400) }) },
  { weight: 3, of: (draw) => ({ kind: "leaves_after_pieces", pieces: drawInteger(draw, 1, 6) }) },
];

/** A time during which nobody listens where an upstream was. */
export interface Outage {
  readonly upstream: UpstreamName;
  /** The numbers of the requests before which it begins and ends. */
  readonly from: number;
  readonly to: number;
}

/** One outage in each stretch of requests; one upstream at a time. */
export function outagesOf({ seed }: StormConditions, first: number, count: number): readonly Outage[] {
  return Array.from({ length: Math.floor(count / OUTAGE_EVERY) }, (_, index) => {
    const draw = createDraw(seed, "outage", first, index);
    const from = first + index * OUTAGE_EVERY + drawInteger(draw, 0, OUTAGE_EVERY / 2);
    return { upstream: drawOne(draw, UPSTREAMS), from, to: from + drawInteger(draw, 50, 300) };
  });
}

const OUTAGE_EVERY = 2_000;
