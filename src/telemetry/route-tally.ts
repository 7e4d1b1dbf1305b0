import { FIRST_TOKEN_SECONDS, Histogram, TOKEN_COUNTS } from "./series.ts";

/** The money in nano-USD and the tokens of a settled request. */
export interface SettledRequest {
  readonly granted: bigint;
  readonly charged: bigint;
  /** `undefined` when it is unknown. */
  readonly upstreamCost?: bigint | undefined;
  /** From arrival to the first output of a stream; `undefined` for a whole answer. */
  readonly firstOutputMs: number | undefined;
  /** `undefined` when nothing was charged. */
  readonly usage: ChargedTokens | undefined;
}

/** The charged tokens in disjoint classes. */
interface ChargedTokens {
  readonly inputTokens: number;
  readonly cachedInputTokens: number;
  readonly cacheWriteTokens: number;
  readonly cacheWrite1hTokens: number;
  readonly outputTokens: number;
}

/** The settled requests of a route. Amounts are nano-USD, exact up to 9 million USD. */
export class SettledTally implements ChargedTokens {
  granted = 0;
  captured = 0;
  /** Sum of the known upstream costs. */
  upstreamCost = 0;
  /** The part of `captured` whose upstream cost is known. */
  costed = 0;
  /** Sum of `charged − granted` over the requests that were charged more than was granted. */
  overspent = 0;
  inputTokens = 0;
  cachedInputTokens = 0;
  cacheWriteTokens = 0;
  cacheWrite1hTokens = 0;
  outputTokens = 0;

  add({ granted, charged, upstreamCost, usage }: SettledRequest): void {
    this.granted += Number(granted);
    this.captured += Number(charged);
    if (upstreamCost !== undefined) {
      this.upstreamCost += Number(upstreamCost);
      this.costed += Number(charged);
    }
    if (charged > granted) this.overspent += Number(charged - granted);
    if (!usage) return;
    const { inputTokens, cachedInputTokens, cacheWriteTokens, cacheWrite1hTokens, outputTokens } = usage;
    this.inputTokens += inputTokens;
    this.cachedInputTokens += cachedInputTokens;
    this.cacheWriteTokens += cacheWriteTokens;
    this.cacheWrite1hTokens += cacheWrite1hTokens;
    this.outputTokens += outputTokens;
  }
}

/** The requests of one operation on a route. */
export class OperationTally {
  /** By code. Requests that called no upstream are left out: they would hide how long the others take. */
  readonly durations = new Map<string, Histogram>();
  readonly firstOutput = new Histogram(FIRST_TOKEN_SECONDS);
  readonly inputTokens = new Histogram(TOKEN_COUNTS);
  readonly outputTokens = new Histogram(TOKEN_COUNTS);

  addTokens(usage: ChargedTokens): void {
    const { inputTokens, cachedInputTokens, cacheWriteTokens, cacheWrite1hTokens, outputTokens } = usage;
    this.inputTokens.observe(inputTokens + cachedInputTokens + cacheWriteTokens + cacheWrite1hTokens);
    this.outputTokens.observe(outputTokens);
  }
}

/** The requests of one model at one upstream, which is "" for those that called none. */
export interface RouteTally {
  readonly model: string;
  readonly upstream: string;
  /** The upstream's `gen_ai.provider.name`; "" until the route is announced. */
  provider: string;
  /** Requests by surface and code. */
  readonly counts: Map<string, Map<string, number>>;
  chat: OperationTally | undefined;
  embeddings: OperationTally | undefined;
  settled: SettledTally | undefined;
}

/** The routes of all models. */
export interface RouteTallies {
  /** Creates the tally of a route that is new. */
  find(model: string, upstream: string): RouteTally;
  all(): readonly RouteTally[];
}

export function createRouteTallies(): RouteTallies {
  const byModel = new Map<string, Map<string, RouteTally>>();
  function add(model: string, upstream: string): RouteTally {
    const created: RouteTally = {
      model,
      upstream,
      provider: "",
      counts: new Map(),
      chat: undefined,
      embeddings: undefined,
      settled: undefined,
    };
    const byUpstream = byModel.get(model) ?? new Map<string, RouteTally>();
    byModel.set(model, byUpstream.set(upstream, created));
    return created;
  }
  return {
    find: (model, upstream) => byModel.get(model)?.get(upstream) ?? add(model, upstream),
    all: () => [...byModel.values()].flatMap((byUpstream) => [...byUpstream.values()]),
  };
}
