import type { ApiKey } from "../../accounts/keys/key.ts";
import type { SpendingLimit } from "../../accounts/spending-limits.ts";
import { DAY_MS } from "../../domain/id-time.ts";
import type { Nanos } from "../../domain/money.ts";
import { isCalendar, periodStart, windowMs } from "../../domain/period.ts";
import { totalTokensOf } from "../../domain/usage.ts";
import { GatewayError } from "../../errors.ts";
import type { Ledger } from "../../ledger/ledger.ts";
import { PAGE_SIZE_MAX, pagesOf, type Receipt } from "../../ledger/records.ts";
import { advance, createWindow, take } from "../../limiter/window.ts";

const REPLAYED_MS = 7 * DAY_MS;
/** The most receipts that are replayed; of more, the newest. */
const RECEIPTS_MAX = 50_000;

/** The past requests of a key, and which of them other limits would have refused. */
export interface Simulation {
  /** The time of the requests that were read. */
  readonly fromMs: number;
  readonly toMs: number;
  readonly requests: number;
  readonly declines: readonly TriedDeclines[];
  /** Whether only the newest 50,000 requests were read. */
  readonly isCut: boolean;
}

/** Creates a simulator, which runs one simulation per account at a time. Rejects with `too_concurrent`. */
export function createSimulator({
  ledger,
  now,
}: {
  readonly ledger: Pick<Ledger, "receipts">;
  readonly now: () => number;
}) {
  const running = new Set<string>();
  return async (key: ApiKey, limits: TriedLimits): Promise<Simulation> => {
    if (running.has(key.accountId)) throw new GatewayError("too_concurrent", { retryAfterS: 1 });
    running.add(key.accountId);
    try {
      return await simulate(ledger, key, { limits, toMs: now() });
    } finally {
      running.delete(key.accountId);
    }
  };
}

/** Replays the last 7 days of a key against other limits. */
async function simulate(
  ledger: Pick<Ledger, "receipts">,
  key: ApiKey,
  { limits, toMs }: { readonly limits: TriedLimits; readonly toMs: number },
): Promise<Simulation> {
  const { requests, isCut } = await readRequests(ledger, key, toMs);
  const [oldest] = requests;
  return {
    fromMs: isCut && oldest ? oldest.arrivedAtMs : toMs - REPLAYED_MS,
    toMs,
    requests: requests.length,
    declines: await replayLimits(requests, limits),
    isCut,
  };
}

/** Reads the requests of a key, sorted by arrival. */
async function readRequests(
  ledger: Pick<Ledger, "receipts">,
  { id: keyId, accountId: walletId }: ApiKey,
  toMs: number,
): Promise<{ readonly requests: readonly PastRequest[]; readonly isCut: boolean }> {
  const requests: PastRequest[] = [];
  const filter = { walletId, keyId, fromMs: toMs - REPLAYED_MS };
  let isCut = false;
  for await (const page of pagesOf((token) => ledger.receipts(filter, { size: PAGE_SIZE_MAX, token }))) {
    requests.push(...page.items.map((receipt) => readRequest(receipt, toMs)));
    isCut = page.nextToken !== undefined;
    if (requests.length >= RECEIPTS_MAX) break;
  }
  requests.sort((one, other) => one.arrivedAtMs - other.arrivedAtMs);
  return { requests, isCut };
}

function readRequest({ createdAtMs, resolvedAtMs, granted, captured, outcome }: Receipt, toMs: number) {
  return {
    arrivedAtMs: createdAtMs,
    endedAtMs: resolvedAtMs ?? toMs,
    tokens: outcome?.usage ? totalTokensOf(outcome.usage) : 0,
    cost: captured,
    hadHold: granted > 0n,
  };
}

/** Requests that are replayed before others get the event loop: a few milliseconds of work. */
const REQUESTS_PER_TURN = 1_000;

/** A past request, as far as limits depend on it. */
export interface PastRequest {
  /** Unix milliseconds of its arrival and of its end. */
  readonly arrivedAtMs: number;
  readonly endedAtMs: number;
  /** All tokens that it used. */
  readonly tokens: number;
  readonly cost: Nanos;
  /** Whether money was held for it: without money left it is refused, whatever it cost. */
  readonly hadHold: boolean;
}

/** Limits to try; an absent one refuses nothing. */
export interface TriedLimits {
  readonly requestsPerMinute?: number | undefined;
  readonly tokensPerMinute?: number | undefined;
  readonly concurrentRequests?: number | undefined;
  readonly spendingLimit?: SpendingLimit | undefined;
}

type TriedLimit = "requests_per_minute" | "tokens_per_minute" | "concurrent_requests" | "spending_limit";

/** How many requests a limit would have refused, and when it refused the first one. */
export interface TriedDeclines {
  readonly limit: TriedLimit;
  refused: number;
  readonly firstAtMs: number;
}

/**
 * Replays requests, sorted by arrival, against limits by the limiter's own window. A refused request takes
 * nothing. Tokens and money count as used at the arrival, so that estimates of that time have no effect. A
 * request that several limits refuse counts for the first of {@link TriedLimit}.
 */
export async function replayLimits(
  requests: readonly PastRequest[],
  limits: TriedLimits,
): Promise<readonly TriedDeclines[]> {
  const declines = new Map<TriedLimit, TriedDeclines>();
  const state = new ReplayState(limits);
  for (const [index, request] of requests.entries()) {
    if (index % REQUESTS_PER_TURN === 0) await Bun.sleep(0);
    const limit = state.refuses(request);
    if (limit === undefined) {
      state.admit(request);
      continue;
    }
    const counted = declines.get(limit);
    if (counted) counted.refused += 1;
    else declines.set(limit, { limit, refused: 1, firstAtMs: request.arrivedAtMs });
  }
  return [...declines.values()];
}

class ReplayState {
  readonly #limits: TriedLimits;
  readonly #window = createWindow();
  /** When the running requests end. */
  #ends: number[] = [];
  readonly #spent = new Map<number, Nanos>();
  /** When the latest window began. */
  #windowMs: number | undefined;

  constructor(limits: TriedLimits) {
    this.#limits = limits;
  }

  /** Returns the limit that refuses the request; `undefined` when all admit it. */
  refuses(request: PastRequest): TriedLimit | undefined {
    const { arrivedAtMs, tokens } = request;
    const { requestsPerMinute, tokensPerMinute, concurrentRequests } = this.#limits;
    advance(this.#window, arrivedAtMs);
    if (isAbove(this.#window.requests + 1, requestsPerMinute)) return "requests_per_minute";
    if (isAbove(this.#window.tokens + tokens, tokensPerMinute)) return "tokens_per_minute";
    if (concurrentRequests !== undefined && this.#running(arrivedAtMs) >= concurrentRequests) {
      return "concurrent_requests";
    }
    return this.#isUnaffordable(request) ? "spending_limit" : undefined;
  }

  admit({ arrivedAtMs, endedAtMs, tokens, cost }: PastRequest): void {
    take(this.#window, arrivedAtMs, tokens);
    if (this.#limits.concurrentRequests !== undefined) this.#ends.push(endedAtMs);
    if (this.#limits.spendingLimit) {
      const start = this.#periodOf(this.#limits.spendingLimit, arrivedAtMs);
      this.#spent.set(start, (this.#spent.get(start) ?? 0n) + cost);
    }
  }

  #running(nowMs: number): number {
    this.#ends = this.#ends.filter((endMs) => endMs > nowMs);
    return this.#ends.length;
  }

  #isUnaffordable({ arrivedAtMs, cost, hadHold }: PastRequest): boolean {
    const { spendingLimit } = this.#limits;
    if (!spendingLimit) return false;
    const spent = this.#spent.get(this.#periodOf(spendingLimit, arrivedAtMs)) ?? 0n;
    return spent + cost > spendingLimit.amount || (hadHold && spent >= spendingLimit.amount);
  }

  /** The start of a request's period. A window begins with the first request after the end of the last one. */
  #periodOf({ period, timeZone }: SpendingLimit, atMs: number): number {
    if (isCalendar(period)) return periodStart(period, atMs, timeZone);
    if (this.#windowMs === undefined || atMs >= this.#windowMs + windowMs(period)) this.#windowMs = atMs;
    return this.#windowMs;
  }
}

/** A limit of 0 admits nothing, not even zero tokens. */
function isAbove(count: number, limit: number | undefined): boolean {
  return limit !== undefined && (limit <= 0 || count > limit);
}
