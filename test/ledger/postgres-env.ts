import type { SQL } from "bun";
import { openPostgres, type PostgresDatabase } from "../../src/db/postgres/database.ts";
import { auditPostgres } from "../../src/ledger/audit/audit.ts";
import type { BatchOptions } from "../../src/ledger/engine/batcher.ts";
import type { LocalLedger } from "../../src/ledger/engine/local.ts";
import { createPostgresLedger } from "../../src/ledger/postgres/ledger.ts";
import { createTestDatabase } from "../support/test-database.ts";
import { NOON_MS, WALLET } from "./samples.ts";

/** A ledger in a new PostgreSQL database, with one funded wallet. Its clock stands at {@link NOON_MS} by default. */
export interface PostgresEnv {
  readonly url: string;
  readonly client: SQL;
  readonly ledger: LocalLedger;
  /** Opens another ledger on the database, as a second process would. */
  openAnother(options?: BatchOptions & { readonly url?: string }): Promise<LocalLedger>;
  /** Returns the findings of the audit. */
  audit(): Promise<readonly unknown[]>;
  close(): Promise<void>;
}

export async function openPostgresEnv(
  funds: bigint,
  { now = () => NOON_MS, ...options }: BatchOptions & { readonly now?: () => number } = {},
): Promise<PostgresEnv> {
  const { url, drop } = await createTestDatabase();
  const opened: { database: PostgresDatabase; ledger: LocalLedger }[] = [];
  const open = async (at: string, batches: BatchOptions) => {
    const database = await openPostgres(at);
    const ledger = createPostgresLedger({ database, now, ...batches });
    opened.push({ database, ledger });
    return { database, ledger };
  };
  const { database, ledger } = await open(url, options);
  await ledger.createWallet(WALLET);
  if (funds > 0n) await ledger.topUp({ walletId: WALLET, topUpId: "funds", amount: funds });
  return {
    url,
    client: database.client,
    ledger,
    async openAnother({ url: at = url, ...batches } = {}) {
      return (await open(at, batches)).ledger;
    },
    audit: async () => (await auditPostgres(database, now())).findings,
    async close() {
      for (const each of opened) {
        await each.ledger.close();
        await each.database.close();
      }
      await drop();
    },
  };
}
