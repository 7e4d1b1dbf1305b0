import type { LedgerReads, UsageQuery } from "../../../src/ledger/records.ts";
import type { UsageDimension } from "../../../src/ledger/usage-records.ts";
import { readOverview } from "../../../src/payments/overview.ts";
import { proveWallet } from "../../../src/payments/proof.ts";
import { listMonths } from "../../../src/payments/statement.ts";
import { BIG_WALLET, RARE_KEY, SMALL_WALLET } from "./fill-usage.ts";

/** The time of one view: the median of its runs. */
export interface ViewResult {
  readonly view: string;
  readonly ms: number;
  /** CPU of this process, which is all of SQLite's. */
  readonly cpuMs: number | undefined;
  readonly rows: number;
}

const DAY_MS = 86_400_000;
const RUNS = 5;

interface View {
  readonly name: string;
  read(): Promise<number>;
}

/** Measures every view of the console. `endMs` is the time of the newest receipt. */
export async function measureViews(reads: LedgerReads, endMs: number): Promise<readonly ViewResult[]> {
  const results: ViewResult[] = [];
  for (const view of [
    ...usageViews(reads, endMs),
    ...listViews(reads, endMs),
    ...walletViews(reads, endMs),
  ]) {
    results.push(await measureView(view));
  }
  return results;
}

async function measureView({ name, read }: View): Promise<ViewResult> {
  const runs: { ms: number; cpuMs: number; rows: number }[] = [];
  await read();
  for (let run = 0; run < RUNS; run++) {
    const beganAtMs = performance.now();
    const before = process.cpuUsage();
    const rows = await read();
    const { user, system } = process.cpuUsage(before);
    runs.push({ ms: performance.now() - beganAtMs, cpuMs: (user + system) / 1_000, rows });
  }
  const middle = (values: readonly number[]) => values.toSorted((one, other) => one - other)[RUNS >> 1] ?? 0;
  return {
    view: name,
    ms: middle(runs.map(({ ms }) => ms)),
    cpuMs: middle(runs.map(({ cpuMs }) => cpuMs)),
    rows: runs[0]?.rows ?? 0,
  };
}

function usageViews(reads: LedgerReads, endMs: number): readonly View[] {
  const view = (
    name: string,
    walletId: string | undefined,
    days: number,
    groupBy: readonly UsageDimension[],
    more: Partial<UsageQuery> = {},
  ): View => ({
    name: `${name}, ${walletId === undefined ? "all accounts" : walletId === BIG_WALLET ? "big account" : "small account"}`,
    read: async () =>
      (await reads.usage({ walletId, fromMs: endMs - days * DAY_MS + 1234, groupBy, ...more })).rows.length,
  });
  const accounts = [BIG_WALLET, SMALL_WALLET, undefined];
  return [
    ...accounts.map((wallet) => view("by hour, 1 day", wallet, 1, ["hour"])),
    ...accounts.map((wallet) => view("by hour, 31 days", wallet, 31, ["hour"])),
    ...accounts.map((wallet) => view("by hour and model, 31 days", wallet, 31, ["hour", "model"])),
    ...accounts.map((wallet) => view("by day, 30 days", wallet, 30, ["day"])),
    view("by day at UTC+9, 30 days", BIG_WALLET, 30, ["day"], { offsetHours: 9 }),
    ...accounts.map((wallet) => view("by day, 90 days", wallet, 90, ["day"])),
    ...accounts.map((wallet) => view("by day and model, 90 days", wallet, 90, ["day", "model"])),
    ...([30, 90] as const).flatMap((days) =>
      (["model", "key", "upstream", "outcome"] as const).flatMap((dimension) =>
        [BIG_WALLET, undefined].map((wallet) =>
          view(`by ${dimension}, ${days} days`, wallet, days, [dimension]),
        ),
      ),
    ),
    view("by account, 30 days", undefined, 30, ["wallet"]),
    view("by account, 90 days", undefined, 90, ["wallet"]),
    view("by day of one key, 30 days", BIG_WALLET, 30, ["day"], { keyId: "key-3" }),
  ];
}

function listViews(reads: LedgerReads, endMs: number): readonly View[] {
  const page = { size: 50 };
  const list = (name: string, filter: Parameters<LedgerReads["receipts"]>[0]): View => ({
    name,
    read: async () => (await reads.receipts(filter, page)).items.length,
  });
  let holdId: string | undefined;
  return [
    list("newest 50, big account", { walletId: BIG_WALLET }),
    list("newest 50, small account", { walletId: SMALL_WALLET }),
    list("newest 50, all accounts", { walletId: undefined }),
    list("newest 50 of a rare key", { walletId: BIG_WALLET, keyId: RARE_KEY }),
    list("newest 50 of a rare key, all accounts", { walletId: undefined, keyId: RARE_KEY }),
    list("newest 50 of an outcome without a match", { walletId: SMALL_WALLET, outcome: "never" }),
    list("newest 50 of an account without receipts", { walletId: "bench-none" }),
    list("newest 50 expired", { walletId: BIG_WALLET, state: "expired" }),
    list("newest 50 of a surface without a match", { walletId: BIG_WALLET, surface: "never" }),
    list("newest 50 by metadata", { walletId: BIG_WALLET, metadata: { name: "team", value: "t3" } }),
    list("newest 50 by metadata without a match", {
      walletId: BIG_WALLET,
      metadata: { name: "team", value: "never" },
    }),
    list("50 of 60 days ago", { walletId: SMALL_WALLET, toMs: endMs - 60 * DAY_MS }),
    {
      name: "a receipt by id, all accounts",
      async read() {
        holdId ??= (await reads.receipts({ walletId: SMALL_WALLET, toMs: endMs - 45 * DAY_MS }, { size: 1 }))
          .items[0]?.holdId;
        return (await reads.receiptsById(holdId ?? "")).length;
      },
    },
    {
      name: "running holds, all accounts",
      read: async () => (await reads.runningHolds(undefined, page)).items.length,
    },
    { name: "running holds by account", read: async () => (await reads.runningTotals(undefined)).length },
  ];
}

function walletViews(reads: LedgerReads, endMs: number): readonly View[] {
  const past = { fromMs: endMs - 45 * DAY_MS, toMs: endMs - 44 * DAY_MS };
  return [BIG_WALLET, SMALL_WALLET].flatMap((walletId) => {
    const account = walletId === BIG_WALLET ? "big account" : "small account";
    return [
      {
        name: `wallet with its totals, ${account}`,
        read: async () => (await readOverview(reads, walletId, endMs)).totals.transfers,
      },
      {
        name: `months of statements, ${account}`,
        read: async () => (await listMonths(reads, walletId, endMs)).length,
      },
      {
        name: `newest 50 transfers, ${account}`,
        read: async () => (await reads.transfers(walletId, { size: 50 })).items.length,
      },
      {
        name: `50 transfers of a range of time, ${account}`,
        read: async () => (await reads.transfers(walletId, { size: 50 }, past)).items.length,
      },
      {
        name: `proof of the balance, ${account}`,
        read: async () => (await proveWallet(reads, walletId)).totals.transfers,
      },
    ];
  });
}

/** Prints the results as a table of the documentation. */
export function printViews(
  {
    store,
    receipts,
    mb,
  }: { readonly store: string | undefined; readonly receipts: number; readonly mb: number },
  results: readonly ViewResult[],
): string {
  const rows = results.map(
    ({ view, ms, cpuMs, rows: count }) =>
      `| ${view} | ${ms.toFixed(1)} | ${cpuMs?.toFixed(1) ?? "–"} | ${count} |`,
  );
  return [
    `${store}, ${receipts.toLocaleString("en")} receipts, ${mb} MB`,
    "",
    "| view | wall, ms | CPU, ms | rows |",
    "|---|---|---|---|",
    ...rows,
  ].join("\n");
}
