import { type Nanos, parsePrice, picosToNanos } from "../../src/domain/money.ts";
import type { CallResult } from "./call.ts";
import type { StoredReceipt } from "./ledger-tables.ts";
import { UPSTREAMS, type UpstreamName } from "./plan.ts";
import type { Evidence } from "./run-storm.ts";
import { PRICES } from "./storm-gateway.ts";
import { upstreamOfUsage } from "./tagged-output.ts";

/** Lists the requests whose receipt contradicts what the client saw. */
export function findReceiptMismatches({ seen, ledger }: Evidence): readonly string[] {
  const receipts = new Map(ledger.receipts.map((receipt) => [receipt.id, receipt]));
  return seen.flatMap((each) => {
    if (each.requestId === undefined) return [];
    const receipt = receipts.get(each.requestId);
    const receivedText = receipt ? contradiction(each, receipt) : "there is no receipt";
    return receivedText ? [`${each.number} ${each.ended} ${each.detail ?? ""}: ${receivedText}`] : [];
  });
}

function contradiction({ ended, detail, answeredBy, saysBilled }: CallResult, receipt: StoredReceipt) {
  const { outcome, captured, upstream } = receipt;
  if (answeredBy && upstreamOf(receipt) !== answeredBy)
    return `${answeredBy} answered, and ${upstream} is on the receipt`;
  if (ended === "finished" && outcome !== "ok") return `the receipt has ${outcome}`;
  if (ended === "failed" && outcome !== detail) return `the receipt has ${outcome}`;
  if (ended === "failed" && saysBilled !== captured > 0n) return `it was charged ${captured} nano-USD`;
  return undefined;
}

function upstreamOf({ upstream }: StoredReceipt): UpstreamName | undefined {
  return UPSTREAMS.find((name) => upstream?.startsWith(`${name}-`));
}

/**
 * Lists the reported charges that are not for exactly one answer of an upstream at its price. The reported
 * usage identifies the request.
 */
export function findWrongCharges({ ledger, answered: given }: Evidence): readonly string[] {
  const answered = new Map(Object.entries(given).map(([name, numbers]) => [name, new Set(numbers)]));
  const paid = new Set<number>();
  return ledger.receipts.flatMap((receipt) => {
    if (receipt.source !== "reported") return [];
    const { upstream, number } = upstreamOfUsage(Number(receipt.outputTokens));
    const faults: string[] = [];
    if (paid.has(number)) faults.push("paid before");
    paid.add(number);
    if (upstream === undefined || upstream !== upstreamOf(receipt))
      faults.push("the usage of another upstream");
    else if (!answered.get(upstream)?.has(number)) faults.push("no answer was given");
    else if (receipt.captured !== costOf(receipt, upstream)) faults.push(`${receipt.captured} nano-USD`);
    return faults.map((fault) => `${number} at ${receipt.upstream}: ${fault}`);
  });
}

function costOf({ inputTokens, outputTokens }: StoredReceipt, upstream: UpstreamName): Nanos {
  const { input, output } = PRICES[upstream];
  return picosToNanos((inputTokens ?? 0n) * parsePrice(input) + (outputTokens ?? 0n) * parsePrice(output));
}

/** Lists finished answers that no upstream has sent. */
export function findUnknownAnswers({ seen, answered: given }: Evidence): readonly number[] {
  const answered = new Map(Object.entries(given).map(([name, numbers]) => [name, new Set(numbers)]));
  return seen
    .filter(
      ({ ended, answeredBy = "", number }) => ended === "finished" && !answered.get(answeredBy)?.has(number),
    )
    .map(({ number }) => number);
}

/**
 * Lists the requests that several upstreams answered completely although no attempt timed out. Leaves out clients that
 * left before they knew the id of their request.
 */
export function findAnsweredTwice({ answered, seen, log }: Evidence): readonly number[] {
  const lines = log.map((line) => JSON.parse(line));
  const timedOut = new Set(lines.filter(({ timeout }) => timeout).map(({ request }) => request));
  const idOf = new Map(seen.map(({ number, requestId }) => [number, requestId]));
  const all = Object.values(answered).flatMap((numbers) => [...new Set(numbers)]);
  const once = new Set<number>();
  const twice = all.filter((number) => once.size === once.add(number).size);
  return twice.filter((number) => idOf.get(number) !== undefined && !timedOut.has(idOf.get(number)));
}

/** Lists the receipts with a failed attempt that has no line in the log. */
export function findUnexplained({ ledger, log }: Evidence): readonly string[] {
  const explained = new Map<string, number>();
  for (const line of log) {
    const { msg, request } = JSON.parse(line);
    if (msg === "attempt failed") explained.set(request, (explained.get(request) ?? 0) + 1);
  }
  return ledger.receipts.flatMap(({ id, outcome, attempts }) => {
    const all = JSON.parse(attempts ?? "[]").length;
    const failed = ANSWERED.includes(outcome ?? "") ? all - 1 : all;
    return failed > (explained.get(id) ?? 0) ? [`${id}: ${outcome} after ${attempts}`] : [];
  });
}

/** Outcomes whose last attempt did not fail. */
const ANSWERED = ["ok", "empty_completion", "client_closed"];
