import { createAccount } from "../../../src/accounts/accounts.ts";
import { issueKey } from "../../../src/accounts/keys/keys.ts";
import { connectDatabase } from "../../../src/db/database.ts";
import { type Capability, costOf, type Price } from "../../../src/domain/model.ts";
import { parsePrice, parseUsd } from "../../../src/domain/money.ts";
import type { Usage } from "../../../src/domain/usage.ts";
import type { Ledger } from "../../../src/ledger/ledger.ts";
import type { OutcomeFacts } from "../../../src/ledger/records.ts";
import { createSqliteLedger } from "../../../src/ledger/sqlite/ledger.ts";
import { createDraw, drawInteger, drawWeighted, type RandomSource } from "../../support/seeded-random.ts";

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

interface HistoryModel {
  readonly id: string;
  readonly upstream: string;
  readonly surface: "chat" | "messages" | "responses";
  readonly price: Price;
  readonly weight: number;
  readonly can: readonly Capability[];
}

/** The models of the history and of the world's configuration, with their prices in USD per million tokens. */
export const HISTORY_MODELS: readonly HistoryModel[] = [
  model("gpt-4.1-mini", "openai", "chat", { input: "0.40", output: "1.60", cached: "0.10", weight: 5 }, [
    "tools",
    "images",
    "structured_output",
  ]),
  model("gpt-4.1", "openai", "responses", { input: "2.00", output: "8.00", cached: "0.50", weight: 2 }, [
    "tools",
    "images",
    "documents",
    "prompt_caching",
  ]),
  model(
    "claude-sonnet",
    "anthropic",
    "messages",
    {
      input: "3.00",
      output: "15.00",
      cached: "0.30",
      weight: 4,
    },
    ["tools", "reasoning", "prompt_caching"],
  ),
];

function model(
  id: string,
  upstream: string,
  surface: HistoryModel["surface"],
  { input, output, cached, weight }: { input: string; output: string; cached: string; weight: number },
  can: HistoryModel["can"],
): HistoryModel {
  const price = {
    input: parsePrice(input),
    output: parsePrice(output),
    cachedInput: parsePrice(cached),
    cacheWrite: parsePrice(input),
    cacheWrite1h: parsePrice(input),
  };
  return { id, upstream, surface, price, weight, can };
}

/** An account with keys and traffic of past days, as they would be had they happened. */
export interface History {
  readonly accountId: string;
  readonly keyIds: readonly string[];
}

export interface HistoryOptions {
  readonly name: string;
  readonly days: number;
  /** Mean number of requests per day. */
  readonly perDay: number;
  readonly keys: readonly string[];
  readonly topUpUsd: string;
}

/**
 * Writes the history of one account into a SQLite file through the real ledger, whose clock is moved: every
 * balance, limit and receipt is exact. Must not run beside a gateway on the file.
 */
export async function writeHistory(path: string, options: HistoryOptions): Promise<History> {
  const database = await connectDatabase({ dialect: "sqlite", path });
  if (database.dialect !== "sqlite") throw new Error("The history needs SQLite");
  const endMs = Date.now();
  let nowMs = endMs - options.days * DAY_MS;
  const now = () => nowMs;
  const ledger = createSqliteLedger({ database: database.sqlite, now });
  const draw = createDraw("history", options.name);
  try {
    const { id: accountId } = await createAccount({ database, ledger, now }, { name: options.name });
    await ledger.topUp({ walletId: accountId, topUpId: "invoice-1001", amount: parseUsd(options.topUpUsd) });
    const keyIds: string[] = [];
    for (const name of options.keys) {
      keyIds.push((await issueKey({ database, ledger, now }, { accountId, name })).key.id);
    }
    while (nowMs < endMs) {
      const day = Math.floor((nowMs - endMs) / DAY_MS);
      await Promise.all(
        requestsOfHour(draw, { nowMs, perDay: options.perDay * (day === -4 ? 4 : 1) }).map((atMs) =>
          writeRequest(ledger, draw, { accountId, keyIds, atMs: Math.min(atMs, endMs - 1) }),
        ),
      );
      if (draw() < 1 / (24 * 9)) {
        const topUpId = `invoice-${1002 + Math.floor((nowMs - endMs) / HOUR_MS + options.days * 24)}`;
        await ledger.topUp({ walletId: accountId, topUpId, amount: parseUsd("50") });
      }
      nowMs += HOUR_MS;
    }
    return { accountId, keyIds };
  } finally {
    await ledger.close();
    await database.close();
  }
}

/** The moments of the requests of one hour: fewer at night and at weekends. */
function requestsOfHour(
  draw: RandomSource,
  { nowMs, perDay }: { readonly nowMs: number; readonly perDay: number },
): readonly number[] {
  const date = new Date(nowMs);
  const isWeekend = date.getUTCDay() % 6 === 0;
  const byHour = 0.3 + Math.max(0, Math.sin(((date.getUTCHours() - 5) / 16) * Math.PI)) * 1.4;
  const count = Math.round((perDay / 24) * byHour * (isWeekend ? 0.4 : 1.2) * (0.6 + draw() * 0.8));
  return Array.from({ length: count }, () => nowMs + Math.floor(draw() * HOUR_MS));
}

async function writeRequest(
  ledger: Ledger,
  draw: RandomSource,
  {
    accountId,
    keyIds,
    atMs,
  }: { readonly accountId: string; readonly keyIds: readonly string[]; readonly atMs: number },
): Promise<void> {
  const { id: name, upstream, surface, price } = drawWeighted(draw, HISTORY_MODELS);
  const usage = drawUsage(draw);
  const amount = costOf(usage, price);
  const hold = { walletId: accountId, holdId: Bun.randomUUIDv7("hex", atMs) };
  const keyId = keyIds[Math.floor(draw() ** 2 * keyIds.length)] ?? "";
  const metadata = draw() < 0.3 ? { team: draw() < 0.5 ? "search" : "support" } : undefined;
  const facts = { surface, model: name };
  const wanted = amount * 3n;
  await ledger.hold({ ...hold, keyId, amount: wanted, minimum: amount, ttlMs: 60_000, facts, metadata });
  const firstOutputMs = Math.round(180 + draw() ** 3 * 4_000);
  const totalMs = firstOutputMs + usage.outputTokens * drawInteger(draw, 6, 14);
  const outcome = drawWeighted(draw, OUTCOMES);
  const end: OutcomeFacts = {
    outcome: outcome.name,
    source: outcome.source,
    upstream,
    upstreamModel: name,
    price,
    firstOutputMs: outcome.name === "upstream_unavailable" ? undefined : firstOutputMs,
    totalMs,
    attempts: [{ upstream, status: outcome.status, ms: totalMs }],
  };
  if (outcome.source === "none") await ledger.release({ ...hold, facts: end });
  else await ledger.settle({ ...hold, amount, facts: { ...end, usage } });
}

const OUTCOMES = [
  { name: "ok", source: "reported", status: 200, weight: 94 },
  { name: "client_closed", source: "estimated", status: 200, weight: 2 },
  { name: "upstream_unavailable", source: "none", status: 503, weight: 3 },
  { name: "empty_completion", source: "reported", status: 200, weight: 1 },
] as const;

function drawUsage(draw: RandomSource): Usage {
  const inputTokens = drawInteger(draw, 200, 6_000);
  const cachedInputTokens = draw() < 0.4 ? drawInteger(draw, 500, 12_000) : 0;
  return {
    inputTokens,
    cachedInputTokens,
    cacheWriteTokens: 0,
    cacheWrite1hTokens: 0,
    outputTokens: drawInteger(draw, 20, 900),
  };
}
