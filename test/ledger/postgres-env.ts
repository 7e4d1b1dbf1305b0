import type { SQL } from "bun";
import { openPostgres, type PostgresDatabase } from "../../src/db/postgres/database.ts";
import { auditPostgres } from "../../src/ledger/audit/audit.ts";
import type { BatchOptions } from "../../src/ledger/engine/batcher.ts";
import type { LocalLedger } from "../../src/ledger/engine/local.ts";
import { createPostgresLedger } from "../../src/ledger/postgres/ledger.ts";
import { createTestDatabase } from "../support/test-database.ts";
import { NOON_MS, WALLET } from "./samples.ts";

/**
 * A ledger in a new PostgreSQL database, with one funded wallet. Its clock stands at {@link NOON_MS} by default. It
 * waits for locks, and tries again, for longer than a busy machine holds a test up.
 */
export interface PostgresEnv {
  readonly url: string;
  readonly client: SQL;
  readonly ledger: LocalLedger;
  /** Opens another ledger on the database, as a second process would. */
  openAnother(options?: AnotherOptions): Promise<LocalLedger>;
  /** Returns the findings of the audit. */
  audit(): Promise<readonly unknown[]>;
  close(): Promise<void>;
}

interface AnotherOptions extends BatchOptions {
  readonly url?: string;
  /** Whether a statement waits a second for a lock, as in production, and not {@link PATIENCE_MS}. */
  readonly isImpatient?: boolean;
}

const PATIENCE_MS = 60_000;
const PATIENCE = { lock_timeout: `${PATIENCE_MS}`, statement_timeout: `${PATIENCE_MS}` };

export async function openPostgresEnv(
  funds: bigint,
  { now = () => NOON_MS }: { readonly now?: () => number } = {},
): Promise<PostgresEnv> {
  const { url, drop } = await createTestDatabase();
  const opened: { database: PostgresDatabase; ledger: LocalLedger }[] = [];
  const open = async ({ url: at = url, isImpatient = false, ...batches }: AnotherOptions = {}) => {
    const database = await openPostgres(at);
    const connect: PostgresDatabase["connect"] = (options) =>
      database.connect(isImpatient ? options : { ...options, session: { ...options.session, ...PATIENCE } });
    const own = { ...database, connect };
    const ledger = createPostgresLedger({ database: own, now, busyMaxMs: PATIENCE_MS, ...batches });
    opened.push({ database, ledger });
    return { database, ledger };
  };
  const { database, ledger } = await open();
  await ledger.createWallet(WALLET);
  if (funds > 0n) await ledger.topUp({ walletId: WALLET, topUpId: "funds", amount: funds });
  return {
    url,
    client: database.client,
    ledger,
    openAnother: async (options) => (await open(options)).ledger,
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
