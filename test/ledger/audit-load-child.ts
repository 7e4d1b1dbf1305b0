// A process that runs every kind of command repeatedly until its standard input ends, and then prints the
// number of requests. Arguments: the dialect, and the path or URL of the database.
import { openPostgres } from "../../src/db/postgres/database.ts";
import { openDatabase } from "../../src/db/sqlite/database.ts";
import type { LocalLedger } from "../../src/ledger/engine/local.ts";
import { LedgerError } from "../../src/ledger/ledger.ts";
import { createPostgresLedger } from "../../src/ledger/postgres/ledger.ts";
import { createSqliteLedger } from "../../src/ledger/sqlite/ledger.ts";
import { FACTS, holdOf } from "./samples.ts";

const WORKERS = 8;
/** Without a pause, a busy machine writes more during each audit than in the one before. */
const PAUSE_MS = 20;
const WALLETS = ["a", "b", "c", "d", "e"];

const [dialect, place = ""] = process.argv.slice(2);
const ledger = await open();
const name = crypto.randomUUID();
let isDone = false;
let next = 0;

await Promise.all(WALLETS.map(fund));
console.log("ready");
const working = Array.from({ length: WORKERS }, async () => {
  while (!isDone) {
    await request(next++).catch(ignoreDecline);
    await Bun.sleep(PAUSE_MS);
  }
});
await Bun.stdin.text();
isDone = true;
await Promise.all(working);
await ledger.close();
console.log(next);
// Open database connections would keep the process alive.
process.exit();

async function open(): Promise<LocalLedger> {
  const options = { busyMaxMs: 120_000 };
  if (dialect === "sqlite") return createSqliteLedger({ database: openDatabase(place), ...options });
  return createPostgresLedger({ database: await openPostgres(place), ...options });
}

async function fund(walletId: string): Promise<void> {
  await ledger.createWallet(walletId);
  await ledger.topUp({ walletId, topUpId: "funds", amount: 10_000n });
  const limit = { walletId, limitId: "l", keyId: undefined, period: "day", amount: 1_000_000n } as const;
  await ledger.setSpendLimit(limit);
}

/** Holds and resolves; every few requests also refunds, tops up, charges or loses a hold. */
async function request(n: number): Promise<void> {
  const walletId = WALLETS[n % WALLETS.length] ?? "";
  const which = { walletId, holdId: Bun.randomUUIDv7() };
  await ledger.hold(holdOf(50n, { ...which, keyId: `k${n % 2}`, minimum: 0n }));
  if (n % 2 === 0) await ledger.extend({ ...which, accrued: BigInt(n % 7), ttlMs: 60_000 });
  if (n % 3 === 0) await ledger.release({ ...which, facts: FACTS });
  else await ledger.settle({ ...which, amount: BigInt(n % 90) + 1n, facts: FACTS });
  if (n % 3 !== 0 && n % 4 === 0) await ledger.refund({ ...which, refundId: `${name} r${n}`, amount: 1n });
  if (n % 5 === 0) await ledger.topUp({ walletId, topUpId: `${name} t${n}`, amount: 100n });
  if (n % 7 === 0) await charge(walletId, n);
  if (n % 11 === 0) await expireHold(walletId);
}

async function charge(walletId: string, n: number): Promise<void> {
  const facts = { surface: "batch", model: "demo" };
  await ledger.charge({
    walletId,
    chargeId: `${name} c${n}`,
    keyId: "k0",
    amount: 3n,
    facts,
    outcome: FACTS,
  });
}

/** A hold that expires, and its late settlement. */
async function expireHold(walletId: string): Promise<void> {
  const which = { walletId, holdId: Bun.randomUUIDv7() };
  await ledger.hold(holdOf(5n, { ...which, minimum: 0n, ttlMs: 1 }));
  await ledger.extend({ ...which, accrued: 2n, ttlMs: 1 });
  await ledger.sweep();
  await ledger.settle({ ...which, amount: 4n, facts: FACTS });
}

/** A wallet may have too little money. */
function ignoreDecline(error: unknown): void {
  if (!(error instanceof LedgerError) || error.code === "unavailable") throw error;
}
