import { parseUsd } from "../../src/domain/money.ts";
import type { StoredReceipt, StoredWallet } from "./books.ts";
import type { Sent } from "./clients.ts";
import type { Struck } from "./faults.ts";
import type { GroupPlan } from "./groups.ts";
import type { Stall } from "./stalls.ts";
import type { UpstreamCall } from "./watched-upstream.ts";

/** Everything that was observed in one run. */
export interface Run {
  readonly groups: readonly GroupPlan[];
  readonly sent: readonly Sent[];
  readonly struck: readonly Struck[];
  readonly stalls: readonly Stall[];
  readonly calls: readonly UpstreamCall[];
  readonly receipts: readonly StoredReceipt[];
  readonly wallets: readonly StoredWallet[];
}

/** A request sent this long after a kill may still have been given to the killed gateway. */
const KILL_MS = 250;
/** Until the proxy and the gateways have noticed that PostgreSQL is back. */
const RETURN_MS = 5_000;
/** Until every gateway counts in Redis again: the longest pause between two probes, and a lease renewal. */
const REDIS_RETURN_MS = 16_000;
const MINUTE_MS = 60_000;

const SPOILED = new Set(["no answer", "cut", "500 internal_error", "error event internal_error"]);

/** Returns every broken promise as a sentence; an empty list for a good run. */
export function findProblems(run: Run): readonly string[] {
  return [
    ...findUnpromised(run),
    ...findUnsettled(run),
    ...findBrokenBooks(run),
    ...run.groups.flatMap((group) => findExceeded(run, group)),
  ];
}

/** Results that nothing excuses, each counted once. */
function findUnpromised(run: Run): readonly string[] {
  const unpromised = findSpoiled(run).filter((each) => !isStalled(each, run));
  const results = Map.groupBy(unpromised, ({ group, result }) => `${group}: ${result}`);
  return [...results].map(([what, all]) => `${all.length} times unexpectedly ${what}, at ${timesOf(all)}`);
}

function timesOf(sent: readonly Sent[]): string {
  return sent
    .slice(0, 3)
    .map(({ startedMs, endedMs }) => `${new Date(startedMs).toISOString()} for ${endedMs - startedMs} ms`)
    .join(", ");
}

/** Requests with a result that neither a limit of their group nor a fault explains. */
export function findSpoiled({ sent, struck, groups }: Run): readonly Sent[] {
  const bounded = new Map(groups.map((group) => [group.name, group]));
  return sent.filter((each) => !isPromised(each, bounded.get(each.group), struck));
}

/** Whether a machine that stood still explains a 500: the ledger gives up after two seconds. */
export function isStalled({ startedMs, endedMs, result }: Sent, { stalls }: Pick<Run, "stalls">): boolean {
  const touches = ({ fromMs, toMs }: Stall) => startedMs < toMs + RETURN_MS && endedMs >= fromMs;
  return result === "500 internal_error" && stalls.some(touches);
}

function isPromised(each: Sent, group: GroupPlan | undefined, struck: readonly Struck[]): boolean {
  const { result } = each;
  if (result === "answered" || result === "429 concurrency_exceeded") return true;
  if (result === "429 rate_limit_exceeded") return group?.requestsPerMinute !== undefined;
  if (result === "402 spending_limit_exceeded") return group?.spendingLimitUsd !== undefined;
  if (result === "402 insufficient_balance") return group?.name === "wallet";
  return isSpoiled(each) && struck.some((fault) => isExcused(each, fault));
}

/** Whether a request ended with a fault of ours, and not with an answer or a decline. */
export function isSpoiled({ result }: Sent): boolean {
  return SPOILED.has(result);
}

/** Whether the time of a request lets this fault have spoiled it. */
export function isExcused({ startedMs, endedMs, result }: Sent, { spoils, fromMs, toMs }: Struck): boolean {
  if (spoils === "running requests") return startedMs < fromMs + KILL_MS && endedMs >= fromMs;
  const isDuring = startedMs < toMs + RETURN_MS && endedMs >= fromMs;
  return spoils === "all requests" && result === "500 internal_error" && isDuring;
}

/** Answered requests without a settled receipt of the same cost. */
function findUnsettled({ sent, receipts }: Run): readonly string[] {
  const byId = new Map(receipts.map((receipt) => [receipt.hold_id, receipt]));
  return sent
    .filter(({ result }) => result === "answered")
    .flatMap(({ group, requestId, costUsd }) => {
      const receipt = byId.get(requestId);
      const isRight = costUsd ? receipt?.captured === parseUsd(costUsd) : (receipt?.captured ?? 0n) > 0n;
      if (receipt?.state === "settled" && isRight) return [];
      return [`${group}: ${requestId} was answered, and its receipt is ${receipt?.state ?? "missing"}`];
    });
}

/** The sums of receipts, journal and wallet, which must agree, and what must not be overspent. */
function findBrokenBooks({ wallets, receipts, groups }: Run): readonly string[] {
  const sumOf = (of: (receipt: StoredReceipt) => boolean) =>
    receipts.filter(of).reduce((sum, { captured }) => sum + captured, 0n);
  const ofWallets = wallets.flatMap(({ account, posted, held, topped_up, charged }) => {
    const captured = sumOf((receipt) => receipt.account === account);
    return [
      ...(captured === charged
        ? []
        : [`${account}: receipts of ${captured}, charges of ${charged} nano-USD`]),
      ...(topped_up - charged === posted
        ? []
        : [`${account}: posted ${posted} is not the sum of its journal`]),
      ...(held === 0n ? [] : [`${account}: ${held} nano-USD are still held`]),
      ...(posted >= 0n ? [] : [`${account}: overspent to ${posted} nano-USD`]),
    ];
  });
  const ofLimits = groups.flatMap(({ name, spendingLimitUsd }) => {
    const spent = sumOf(({ key }) => key === name);
    return spendingLimitUsd && spent > parseUsd(spendingLimitUsd) ? [`${name}: spent ${spent} nano-USD`] : [];
  });
  return [...ofWallets, ...ofLimits];
}

/** A limit with its bound while Redis counts, and while or shortly after it does not. */
export interface LimitUse {
  readonly limit: number;
  readonly most: number;
  readonly mostWithoutRedis: number;
}

/** Returns the most requests answered in any 60 s, and the most that the upstream worked on at once. */
export function useOf(
  run: Run,
  { name, requestsPerMinute, concurrentRequests }: GroupPlan,
): LimitUse | undefined {
  const away = run.struck.filter(({ redis }) => redis !== undefined);
  const touches = (fromMs: number, toMs: number) =>
    away.some((fault) => fromMs < fault.toMs + REDIS_RETURN_MS && toMs >= fault.fromMs);
  const counts = requestsPerMinute ? countPerMinute(run, name) : countAtOnce(run, name);
  const limit = requestsPerMinute ?? concurrentRequests;
  if (limit === undefined) return undefined;
  const most = (wanted: boolean) =>
    Math.max(
      0,
      ...counts.filter(({ fromMs, toMs }) => touches(fromMs, toMs) === wanted).map(({ count }) => count),
    );
  return { limit, most: most(false), mostWithoutRedis: most(true) };
}

interface Count {
  readonly fromMs: number;
  readonly toMs: number;
  readonly count: number;
}

/** For each minute that begins with a request, the requests sent and answered within it. */
function countPerMinute({ sent }: Run, name: string): readonly Count[] {
  const answered = sent.filter(({ group, result }) => group === name && result === "answered");
  return answered.map(({ startedMs: fromMs }) => {
    const toMs = fromMs + MINUTE_MS;
    const isWithin = ({ startedMs, endedMs }: Sent) => startedMs >= fromMs && endedMs < toMs;
    return { fromMs, toMs, count: answered.filter(isWithin).length };
  });
}

function countAtOnce({ calls }: Run, name: string): readonly Count[] {
  const own = calls.filter(({ group }) => group === name);
  return own.map(({ fromMs }) => {
    const running = own.filter((call) => call.fromMs <= fromMs && call.toMs > fromMs);
    return { fromMs, toMs: fromMs, count: running.length };
  });
}

/** Without Redis, each of three gateways admits its third beside what Redis counted; with a loss, N once more. */
function findExceeded(run: Run, group: GroupPlan): readonly string[] {
  const use = useOf(run, group);
  if (!use) return [];
  const { limit, most, mostWithoutRedis } = use;
  const bound = limit * (run.struck.some(({ redis }) => redis === "emptied") ? 3 : 2);
  return [
    ...(most > limit ? [`${group.name}: ${most} of ${limit}`] : []),
    ...(mostWithoutRedis > bound
      ? [`${group.name}: ${mostWithoutRedis} without Redis, at most ${bound}`]
      : []),
  ];
}
