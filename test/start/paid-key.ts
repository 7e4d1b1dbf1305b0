import { join } from "node:path";
import { createAccount } from "../../src/accounts/accounts.ts";
import { issueKey } from "../../src/accounts/keys/keys.ts";
import { connectDatabase } from "../../src/db/database.ts";
import { parseUsd } from "../../src/domain/money.ts";
import { createSqliteLedger } from "../../src/ledger/sqlite/ledger.ts";
import { writeSqliteFile } from "../support/test-database.ts";

/**
 * Creates an account `test` with 100 USD in the database of a folder, as three commands would in half a second.
 * Returns the secret of its key. Must not run beside a gateway in the folder.
 */
export async function createPaidKey(folder: string): Promise<string> {
  const path = join(folder, "data", "tollgate.db");
  writeSqliteFile(path);
  const database = await connectDatabase({ dialect: "sqlite", path });
  if (database.dialect !== "sqlite") throw new Error("A folder has a SQLite file");
  const ledger = createSqliteLedger({ database: database.sqlite });
  try {
    const { id: accountId } = await createAccount({ database, ledger }, { name: "test" });
    await ledger.topUp({ walletId: accountId, topUpId: "seed", amount: parseUsd("100") });
    return (await issueKey({ database, ledger }, { accountId, name: "k" })).secret;
  } finally {
    await ledger.close();
    await database.close();
  }
}

/** Sends one request to the model `chat` of a gateway. */
export function askChat(url: string, secret: string, stream = false): Promise<Response> {
  return fetch(`${url}/v1/chat/completions`, {
    method: "POST",
    headers: { authorization: `Bearer ${secret}` },
    body: JSON.stringify({ model: "chat", stream, messages: [{ role: "user", content: "Say hello." }] }),
  });
}
