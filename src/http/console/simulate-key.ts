import type { Static } from "elysia";
import type { ApiKey } from "../../accounts/keys/key.ts";
import { totalTokensOf } from "../../domain/usage.ts";
import { GatewayError } from "../../errors.ts";
import { PAGE_SIZE_MAX, type Receipt } from "../../ledger/records.ts";
import { printTime } from "../../time.ts";
import type { ConsoleParts } from "./console-parts.ts";
import { readSpendingLimit } from "./key-bodies.ts";
import type { simulation, simulationBody } from "./key-shapes.ts";
import { type PastRequest, replayLimits, type TriedLimits } from "./replay-limits.ts";

const REPLAYED_MS = 7 * 86_400_000;
/** The most receipts that are replayed; of more, the newest. */
const RECEIPTS_MAX = 50_000;

type Simulation = Static<typeof simulation>;

/** Replays the last 7 days of a key against other limits. */
export type Simulate = (key: ApiKey, body: Static<typeof simulationBody>) => Promise<Simulation>;

/** Creates a simulator, which runs one simulation per account at a time. Rejects with `too_concurrent`. */
export function createSimulator(parts: ConsoleParts): Simulate {
  const running = new Set<string>();
  return async (key, body) => {
    if (running.has(key.accountId)) throw new GatewayError("too_concurrent", { retryAfterS: 1 });
    running.add(key.accountId);
    try {
      return await simulate(parts, key, readLimits(body));
    } finally {
      running.delete(key.accountId);
    }
  };
}

async function simulate(parts: ConsoleParts, key: ApiKey, limits: TriedLimits): Promise<Simulation> {
  const toMs = parts.now();
  const { requests, isCut } = await readRequests(parts, key, toMs);
  const declines = await replayLimits(requests, limits);
  const firstAtMs = Math.min(...declines.map((each) => each.firstAtMs));
  const [oldest] = requests;
  return {
    from: printTime(isCut && oldest ? oldest.arrivedAtMs : toMs - REPLAYED_MS),
    to: printTime(toMs),
    requests: requests.length,
    refused: declines.reduce((sum, { refused }) => sum + refused, 0),
    by: declines.map((each) => ({
      limit: each.limit,
      refused: each.refused,
      first_at: printTime(each.firstAtMs),
    })),
    first_at: declines.length > 0 ? printTime(firstAtMs) : null,
    is_cut: isCut,
  };
}

/** Reads the requests of a key, sorted by arrival. */
async function readRequests(
  { ledger }: ConsoleParts,
  { id: keyId, accountId: walletId }: ApiKey,
  toMs: number,
): Promise<{ readonly requests: readonly PastRequest[]; readonly isCut: boolean }> {
  const requests: PastRequest[] = [];
  const filter = { walletId, keyId, fromMs: toMs - REPLAYED_MS };
  let token: string | undefined;
  do {
    const page = await ledger.receipts(filter, { size: PAGE_SIZE_MAX, ...(token && { token }) });
    for (const receipt of page.items) requests.push(readRequest(receipt, toMs));
    token = page.nextToken;
  } while (token !== undefined && requests.length < RECEIPTS_MAX);
  requests.sort((one, other) => one.arrivedAtMs - other.arrivedAtMs);
  return { requests, isCut: token !== undefined };
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

function readLimits(body: Static<typeof simulationBody>): TriedLimits {
  return {
    requestsPerMinute: body.requests_per_minute ?? undefined,
    tokensPerMinute: body.tokens_per_minute ?? undefined,
    concurrentRequests: body.concurrent_requests ?? undefined,
    spendingLimit: readSpendingLimit(body.spending_limit) ?? undefined,
  };
}
