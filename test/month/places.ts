import { existsSync, readFileSync } from "node:fs";
import { runTollgate } from "../cli/run-tollgate.ts";
import type { Company } from "./company.ts";
import type { LedgerClient } from "./ledger-client.ts";
import { MONTH } from "./script.ts";
import { addTo, type Kind, nanosOf, type Question, readCsv, type Sums } from "./sums.ts";

const RANGE = { from: new Date(MONTH.fromMs).toISOString(), to: new Date(MONTH.toMs).toISOString() };

const isTag = (kind: Kind): boolean => kind === "feature" || kind === "team";

type Owners = Pick<Company, "owners" | "accountIds">;

/** Usage by the console's API, as its CSV: the answer itself has the dearest end users only. */
export async function sumUsage({ owners, accountIds }: Owners, { account, kind }: Question): Promise<Sums> {
  const group = isTag(kind) ? { group: "tag", tag_key: kind } : { group: kind };
  const query = new URLSearchParams({ ...RANGE, by: "none", ...group });
  const path = `/accounts/${accountIds[account]}/usage.csv?${query}`;
  const sums = new Map<string, bigint>();
  for (const row of readCsv(await owners[account].call("GET", path)))
    addTo(sums, row.group ?? "", nanosOf(row.cost_usd ?? ""));
  return sums;
}

/** The statement of the month, split by the console's API. */
export async function sumStatement(
  { owners, accountIds }: Owners,
  { account, kind }: Question,
): Promise<Sums> {
  const path = `/accounts/${accountIds[account]}/wallet/statements/${MONTH.name}?by=${kind}`;
  return sumLines((await owners[account].call("GET", path)).lines);
}

/** The statement of the month as CSV, split. */
export async function sumStatementFile(
  { owners, accountIds }: Owners,
  { account, kind }: Question,
): Promise<Sums> {
  const path = `/accounts/${accountIds[account]}/wallet/statement.csv?month=${MONTH.name}&by=${kind}`;
  const rows = readCsv(await owners[account].call("GET", path));
  return sumLines(rows.filter((row) => row.charged_usd !== ""));
}

interface StatementLine {
  readonly id?: string | null;
  readonly charged_usd?: string;
  readonly refunded_usd?: string;
}

/** The charges less refunds of the lines of a split statement. */
export function sumLines(lines: readonly StatementLine[]): Sums {
  const sums = new Map<string, bigint>();
  for (const { id, charged_usd, refunded_usd } of lines)
    addTo(sums, id ?? "", nanosOf(charged_usd ?? "") - nanosOf(refunded_usd ?? ""));
  return sums;
}

/** Where the command line runs. */
export interface Desk {
  readonly folder: string;
  readonly environment: Readonly<Record<string, string>>;
}

/** Runs a command and reads its JSON. */
export async function ask(
  { folder, environment }: Desk,
  words: readonly string[],
  // biome-ignore lint/suspicious/noExplicitAny: a test checks what it reads.
): Promise<any> {
  const ran = await runTollgate(folder, [...words, "--json"], environment);
  if (ran.exitCode !== 0) throw new Error(`${words.join(" ")}: ${ran.stderr}`);
  return ran.json();
}

/** The statement of the command line. */
export async function sumCommand(desk: Desk, { account, kind }: Question): Promise<Sums> {
  const words = ["statement", "--month", MONTH.name, "--account", account, "--by", kind];
  return sumLines((await ask(desk, words)).accounts[0].lines);
}

/** The lines that an export has written, added up by what their receipts count for. */
export function sumExport(path: string, accountId: string): (kind: Kind) => Sums {
  const lines = readFileSync(path, "utf8")
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line))
    .filter((line) => line.account_id === accountId && line.receipt && line.transfer);
  return (kind) => {
    const sums = new Map<string, bigint>();
    for (const { receipt, transfer } of lines)
      addTo(sums, scopeOf(receipt, { kind, accountId }), -nanosOf(transfer.amount_usd));
    return sums;
  };
}

/** How many receipts of an account an export has written. */
export function countExported(path: string, accountId: string): number {
  const text = existsSync(path) ? readFileSync(path, "utf8") : "";
  return text.split(`"id":"${accountId}/receipt/`).length - 1;
}

interface ExportedReceipt {
  readonly key_id: string;
  readonly scopes: readonly { readonly kind: string; readonly id: string }[];
}

function scopeOf(
  { key_id, scopes }: ExportedReceipt,
  { kind, accountId }: { readonly kind: Kind; readonly accountId: string },
): string {
  if (kind === "key") return key_id;
  const [, tag] = isTag(kind)
    ? (scopes.map(({ id }) => id.split(`${kind}=`)).find((parts) => parts[1]) ?? [])
    : [];
  if (isTag(kind)) return tag ?? "";
  const scope = scopes.find((each) => each.kind === kind);
  return scope?.id ?? (kind === "project" ? accountId : "");
}

/** Usage by the gRPC service, read by another process. */
export async function sumService(grpc: LedgerClient, walletId: string, { kind }: Question): Promise<Sums> {
  const dimension = `USAGE_DIMENSION_${isTag(kind) ? "TAG" : kind.toUpperCase()}`;
  const answer = await grpc.call("QueryUsage", {
    filter: { walletId, startTime: timeOf(MONTH.fromMs), endTime: timeOf(MONTH.toMs) },
    groupBy: [dimension],
    ...(isTag(kind) ? { tagKey: kind } : {}),
    dearestMax: 10_000,
  });
  const sums = new Map<string, bigint>();
  for (const row of answer.rows)
    addTo(sums, row.group[0]?.text ?? "", BigInt(row.capturedNanos) - BigInt(row.refundedNanos));
  return sums;
}

/** The transfers of the month by the gRPC service, summed by a kind of scope. */
export async function sumTransfers(grpc: LedgerClient, walletId: string, { kind }: Question): Promise<Sums> {
  const answer = await grpc.call("SumTransfersByScope", {
    walletId,
    startTime: timeOf(MONTH.fromMs),
    endTime: timeOf(MONTH.toMs),
    by: `SCOPE_KIND_${isTag(kind) ? "TAG" : kind.toUpperCase()}`,
    ...(isTag(kind) ? { tagKey: kind } : {}),
  });
  const sums = new Map<string, bigint>();
  for (const { scopeId, amountNanos } of answer.totals) addTo(sums, scopeId ?? "", -BigInt(amountNanos));
  return sums;
}

/** Every receipt of the month that the gRPC service lists, summed by a kind. */
export async function readReceipts(grpc: LedgerClient, walletId: string): Promise<(kind: Kind) => Sums> {
  // biome-ignore lint/suspicious/noExplicitAny: a test checks what it reads.
  const holds: any[] = [];
  for (let pageToken = ""; ; ) {
    const page = await grpc.call("ListHolds", { filter: { walletId }, pageSize: 1_000, pageToken });
    holds.push(...page.holds);
    pageToken = page.nextPageToken;
    if (pageToken === "") break;
  }
  return (kind) => {
    const sums = new Map<string, bigint>();
    for (const hold of holds) {
      const scopes = hold.scopes.map((scope: { kind: string; id: string }) => ({
        kind: scope.kind.slice("SCOPE_KIND_".length).toLowerCase(),
        id: scope.id,
      }));
      const name = scopeOf({ key_id: hold.keyId, scopes }, { kind, accountId: walletId });
      addTo(sums, name, BigInt(hold.capturedNanos) - BigInt(hold.refundedNanos));
    }
    return sums;
  };
}

function timeOf(ms: number): object {
  return { seconds: String(ms / 1_000), nanos: 0 };
}
