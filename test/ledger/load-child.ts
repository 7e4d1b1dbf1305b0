// A process that holds and settles as fast as it can and prints what was acknowledged. It sends "ready" and
// begins at the next message, so that several of them run at once.
import { writeSync } from "node:fs";
import { openPostgres } from "../../src/db/postgres/database.ts";
import { openDatabase } from "../../src/db/sqlite/database.ts";
import { createPostgresLedger } from "../../src/ledger/postgres/ledger.ts";
import { createSqliteLedger } from "../../src/ledger/sqlite/ledger.ts";
import { FACTS, holdIdOf, holdOf } from "./samples.ts";

const [url = "", name = "", rounds = "0", wallets = ""] = process.argv.slice(2);
const walletIds = wallets.split(",");
const { ledger, close } = await open(url);

async function open(url: string) {
  if (url.startsWith("sqlite:")) {
    const database = openDatabase(url.slice("sqlite:".length));
    return { ledger: createSqliteLedger({ database, busyMaxMs: 120_000 }), close: database.close };
  }
  const database = await openPostgres(url);
  return { ledger: createPostgresLedger({ database, busyMaxMs: 120_000 }), close: database.close };
}

async function spend(walletId: string, holdName: string): Promise<void> {
  const holdId = holdIdOf(holdName, Date.now());
  await ledger.hold(holdOf(3n, { walletId, holdId }));
  writeSync(1, `held ${holdId}\n`);
  await ledger.settle({ walletId, holdId, amount: 2n, facts: FACTS });
  writeSync(1, `settled ${holdId}\n`);
}

/**
 * Spends once per round on every wallet, in random order, so that processes lock wallets in different orders.
 */
async function work(worker: number): Promise<void> {
  for (let round = 0; round < Number(rounds); round++) {
    const shuffled = walletIds.toSorted(() => Math.random() - 0.5);
    await Promise.all(shuffled.map((walletId) => spend(walletId, `${name}-${worker}-${round}-${walletId}`)));
  }
}

process.send?.("ready");
await new Promise((resolve) => process.once("message", resolve));
await Promise.all(Array.from({ length: 32 }, (_, worker) => work(worker)));
await ledger.close();
await close();
process.disconnect?.();
