// A process that holds and settles as fast as it can and says on stdout what was acknowledged.
import { writeSync } from "node:fs";
import { openDatabase } from "../../src/db/sqlite/database.ts";
import { createSqliteLedger } from "../../src/ledger/sqlite.ts";
import { FACTS, holdOf, WALLET } from "./samples.ts";

const [path = "", name = "", rounds = "0"] = process.argv.slice(2);
const database = openDatabase(path);
const ledger = createSqliteLedger({ database, busyMaxMs: 20_000 });

async function work(worker: number): Promise<void> {
  for (let round = 0; round < Number(rounds); round++) {
    const holdId = `${name}-${worker}-${round}`;
    await ledger.hold(holdOf(3n, { holdId, keyId: "k1" }));
    writeSync(1, `held ${holdId}\n`);
    await ledger.settle({ walletId: WALLET, holdId, amount: 2n, facts: FACTS });
    writeSync(1, `settled ${holdId}\n`);
  }
}

await Promise.all(Array.from({ length: 32 }, (_, worker) => work(worker)));
await ledger.close();
database.close();
