import type { Nanos } from "../../../src/domain/money.ts";
import { parseUsd } from "../../../src/domain/money.ts";
import { readLedgerTables, type StoredReceipt } from "../../storm/ledger-tables.ts";
import { type FuzzEnv, TOP_UP } from "./fuzz-env.ts";
import type { CaseResult } from "./play-cases.ts";

/** What is kept of a correct case. */
export interface CaseTrace {
  readonly number: number;
  /** The outcome that the receipt must have: "ok" or an error code. */
  readonly outcome: string;
  readonly saysBilled: boolean;
  readonly isCount: boolean;
  readonly requestId: string;
  /** Whether an upstream was called. */
  readonly wasAsked: boolean;
}

/** Keeps little, because a long run has many cases. Returns `undefined` for a wrong case. */
export function traceOf({
  case: { id, client },
  reading,
  requestId = "",
  calls,
}: CaseResult): CaseTrace | undefined {
  if (!reading) return undefined;
  const isFinished = reading.ended === "finished";
  return {
    number: id.number,
    outcome: isFinished ? "ok" : reading.row.code,
    saysBilled: !isFinished && reading.row.message.includes("were billed"),
    isCount: client === "count_tokens",
    requestId,
    wasAsked: calls.length > 0,
  };
}

/** A tool at the provider reads the prompt again for each result, and the reported sum is charged in full. */
const READINGS_MAX = 1_000n;
/** The most that one request can cost: full context windows and the largest output limit, in nano-USD. */
const CHARGE_MAX: Nanos = READINGS_MAX * (200_000n * 2_000n + 128n * 8_800n * 2_000n);

/** Lists problems of the ledger after the run. Leaves out cases that are already wrong. */
export async function findLedgerProblems(
  env: FuzzEnv,
  traces: readonly CaseTrace[],
  violation: readonly CaseResult[],
): Promise<readonly string[]> {
  const { gateway, faults } = env;
  await gateway.nothingIsHeld();
  const slots = await countSlots(env);
  const { receipts, wallets } = readLedgerTables(gateway.sqlite.client.filename);
  const posted = wallets.filter(({ posted, captured }) => posted !== parseUsd(TOP_UP) - captured);
  const held = wallets.filter((wallet) => wallet.held !== 0n);
  return [
    ...(slots === 0 ? [] : [`${slots} slots are still taken`]),
    ...posted.map(({ posted, captured }) => `a wallet of ${posted} after ${captured} was captured`),
    ...held.map((wallet) => `${wallet.held} are still held`),
    ...compare(
      traces,
      receipts.filter(({ id }) => violation.every(({ requestId }) => requestId !== id)),
    ),
    ...faults.slice(0, 5).map((line) => `a fault in the log: ${line}`),
  ];
}

async function countSlots({ gateway: { url, secret } }: FuzzEnv): Promise<number> {
  const response = await fetch(`${url}/v1/key`, { headers: { "x-api-key": secret } });
  // Safe because a body of another shape fails where it is used.
  const key = (await response.json()) as { concurrent_requests: { used: number } };
  return key.concurrent_requests.used;
}

/** Lists the cases whose receipt contradicts what the client saw. */
function compare(traces: readonly CaseTrace[], receipts: readonly StoredReceipt[]): string[] {
  const byId = new Map(receipts.map((receipt) => [receipt.id, receipt]));
  const violations = traces.flatMap((trace) => {
    const mismatch = contradiction(trace, byId.get(trace.requestId));
    byId.delete(trace.requestId);
    return mismatch === undefined ? [] : [`case ${trace.number}, ${trace.outcome}: ${mismatch}`];
  });
  return [...violations, ...[...byId.values()].map(({ id }) => `receipt ${id} of no case that was seen`)];
}

function contradiction(trace: CaseTrace, receipt: StoredReceipt | undefined): string | undefined {
  if (!receipt) {
    if (trace.isCount) return undefined;
    return trace.wasAsked ? "an upstream was asked, and there is no receipt" : undefined;
  }
  const { outcome, captured, state } = receipt;
  if (trace.isCount) return "a count has a receipt";
  if (outcome !== trace.outcome) return `the receipt has ${outcome}`;
  if (state !== (captured > 0n ? "settled" : state)) return `the receipt is ${state}`;
  if (outcome !== "ok" && trace.saysBilled !== captured > 0n) return `it was charged ${captured}`;
  if (captured > 0n && !trace.wasAsked) return "it was charged without an upstream call";
  if (captured < 0n || captured > CHARGE_MAX) return `it was charged ${captured}`;
  return undefined;
}
