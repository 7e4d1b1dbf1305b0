import type { Database } from "bun:sqlite";
import type { AttributionHeaders } from "../../src/gateway/request.ts";
import type { Receipt, SpendLimit } from "../../src/ledger/records.ts";
import { drawInteger, drawOne, type RandomSource } from "../support/seeded-random.ts";
import { Violation } from "./model.ts";
import type { SimulatedKey, World } from "./world.ts";

const END_USERS = ["ann", "bob", "cid", "dee"];
/** Runs with the most that each may spend, in USD. */
const RUNS = [
  ["r1", "0.001"],
  ["r2", "0.004"],
  ["r3", "0.02"],
] as const;
const HOUR_MS = 3_600_000;

/** Sets limits of end users on some wallets: of each one, and of one of them. */
export async function limitEndUsers(world: World, walletId: string): Promise<void> {
  const { draw } = world.scheduler;
  const limits: SpendLimit[] = [];
  const keyId = undefined;
  const amount = () => BigInt(drawInteger(draw, 300_000, 9_000_000));
  if (draw() < 0.4) {
    const period = drawOne(draw, ["day", "total", "1h", "5h", "5h"] as const);
    limits.push({ walletId, limitId: "each_end_user", keyId, each: "end_user", period, amount: amount() });
  }
  if (draw() < 0.2) {
    const scope = { kind: "end_user", id: drawOne(draw, END_USERS) } as const;
    limits.push({
      walletId,
      limitId: `${walletId}:one_end_user`,
      keyId,
      scope,
      period: "total",
      amount: amount(),
    });
  }
  for (const limit of limits) {
    await world.command("an operator limits end users", ({ ledger }) => ledger.setSpendLimit(limit));
  }
}

/** Draws whom a request is for. Keys that keys made begin one run each, because every limit is looked at often. */
export function drawAttribution(
  draw: RandomSource,
  { parents }: SimulatedKey,
): AttributionHeaders | undefined {
  if (draw() < 0.5) return undefined;
  const user = draw() < 0.8 ? drawOne(draw, END_USERS) : null;
  const [id, most] = drawOne(draw, parents.length === 0 ? RUNS : RUNS.slice(0, 1));
  return { user, tags: null, run: draw() < 0.3 ? `${id}; max=${most}` : null, maxCost: null };
}

/** Checks that a receipt counts for whom its request named, and for nobody else. */
export function checkScopes(
  { key, attribution }: { readonly key: SimulatedKey; readonly attribution: AttributionHeaders | undefined },
  { scopes }: Receipt,
): void {
  const { user = null, run = null } = attribution ?? {};
  const named = [
    ...key.parents.map(({ id }) => `parent_key ${id}`),
    ...key.scopes,
    ...(user === null ? [] : [`end_user ${user}`]),
    ...(run === null ? [] : [`run ${key.id}:${run.split(";")[0]}`]),
  ];
  const counted = scopes.map(({ kind, id }) => `${kind} ${id}`);
  if (counted.join() !== named.join())
    throw new Violation(`a receipt counts for "${counted}", and its request named "${named}"`);
}

interface CountedHold {
  readonly hold_id: string;
  readonly key_id: string;
  readonly scopes: string | null;
  readonly limits: string | null;
  readonly created_at_ms: number;
}

interface ScopedLimit {
  readonly wallet_id: string;
  readonly limit_id: string;
  readonly each_kind: string | null;
  /** What it binds: a kind, a line feed and an id. */
  readonly key_id: string;
  readonly period: string;
}

/** What a limit binds that counts one kind of scopes in the whole wallet. */
const WHOLE_WALLET = "wallet\n";
const LIMITS = `SELECT wallet_id, limit_id, each_kind, key_id, period FROM spend_limits
  WHERE instr(key_id, char(10)) > 0 OR limit_id IN (SELECT value FROM json_each(?))`;
const HOLDS = "SELECT hold_id, key_id, scopes, limits, created_at_ms FROM holds WHERE wallet_id = ?";

interface CountedOptions {
  /** Whether the clock was ever set back. */
  readonly wasSetBack: boolean;
  /** The limits of keys that have been in force from the start. */
  readonly keptLimits: ReadonlySet<string>;
}

/**
 * Checks which limits each receipt counts against, reckoned from its own scopes: those of runs, end users, projects,
 * members and keys, also above its own, each in a period that has its time. Windows of one counter never overlap. After
 * the clock was set back, a window binds while it is less than its length away.
 */
export function checkCounted(client: Database, { wasSetBack, keptLimits }: CountedOptions): void {
  const kept = JSON.stringify([...keptLimits]);
  for (const limit of client.query<ScopedLimit, [string]>(LIMITS).all(kept)) {
    const lengthMs = windowMs(limit.period);
    const starts = new Map<string, Set<number>>();
    for (const hold of client.query<CountedHold, [string]>(HOLDS).all(limit.wallet_id)) {
      for (const [counterId, startMs] of countedBy(limit, hold)) {
        const isWindow = lengthMs < Number.POSITIVE_INFINITY;
        // A hold of mixed credits is taken after the last end of one, which a clock that was set back has ahead.
        const earliestMs = wasSetBack ? Number.NEGATIVE_INFINITY : hold.created_at_ms - lengthMs;
        const latestMs = hold.created_at_ms + (isWindow && wasSetBack ? lengthMs - 1 : 0);
        if (startMs <= earliestMs || startMs > latestMs)
          throw new Violation(`receipt ${hold.hold_id} counts in a period from ${startMs}`);
        starts.set(counterId, (starts.get(counterId) ?? new Set()).add(startMs));
      }
    }
    if (lengthMs === Number.POSITIVE_INFINITY) continue;
    for (const [counterId, each] of starts) checkWindows(counterId, [...each], lengthMs);
  }
}

/** The length of a window; of other periods, none. */
function windowMs(period: string): number {
  return period.endsWith("h") ? Number(period.slice(0, -1)) * HOUR_MS : Number.POSITIVE_INFINITY;
}

/** Returns the counters of a limit that a hold lists, when they are as many as its scopes ask for. */
function countedBy(
  { limit_id, each_kind, key_id }: ScopedLimit,
  { hold_id, key_id: holdKeyId, scopes, limits }: CountedHold,
): readonly (readonly [string, number])[] {
  const all = JSON.parse(scopes ?? "[]") as [string, string][];
  const bindings = all.map(([kind, id]) => (kind === "parent_key" ? id : `${kind}\n${id}`));
  const isBound = [WHOLE_WALLET, holdKeyId, ...bindings].includes(key_id);
  const named = isBound ? (each_kind === null ? [key_id] : all.filter(([kind]) => kind === each_kind)) : [];
  const listed = JSON.parse(limits ?? "[]") as [string, number][];
  const counted = listed.filter(([id]) => id.split("\n")[0] === limit_id);
  // A hold that was taken before its run had a limit does not count against it.
  const isRun = limit_id.startsWith("run:");
  if (counted.length > named.length || (counted.length < named.length && !isRun))
    throw new Violation(`receipt ${hold_id} counts ${counted.length} times against ${limit_id}`);
  return counted;
}

function checkWindows(counterId: string, starts: number[], lengthMs: number): void {
  const sorted = starts.sort((one, other) => one - other);
  for (const [index, startMs] of sorted.entries()) {
    const nextMs = sorted[index + 1];
    if (nextMs !== undefined && nextMs < startMs + lengthMs)
      throw new Violation(
        `two windows of ${counterId.replaceAll("\n", " ").trim()} overlap, from ${startMs} and ${nextMs}`,
      );
  }
}
