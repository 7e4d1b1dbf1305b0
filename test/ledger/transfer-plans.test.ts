import { Database as SqliteClient } from "bun:sqlite";
import { expect, test } from "bun:test";
import { type QueryValue, type Row, type RunQuery, SQLITE } from "../../src/ledger/queries/query.ts";
import { createTransferList } from "../../src/ledger/queries/transfers.ts";
import { openTempStorage } from "../accounts/temp-storage.ts";

test("SQLite finds each page of top-ups by their index, however many charges the wallet has", async () => {
  const { database, ledger, newAccount, close } = await openTempStorage("sqlite");
  if (database.dialect !== "sqlite") throw new Error("opened the wrong dialect");
  const { id: walletId } = await newAccount();
  for (const topUpId of ["a", "b", "c"]) await ledger.topUp({ walletId, topUpId, amount: 1_000n });

  const client = new SqliteClient(database.sqlite.path, { readonly: true, safeIntegers: true });
  const plans: string[] = [];
  const run: RunQuery = async ({ sql, values }) => {
    const steps = client.query<{ detail: string }, QueryValue[]>(`EXPLAIN QUERY PLAN ${sql}`).all(...values);
    plans.push(steps.map(({ detail }) => detail).join("\n"));
    return client.query<Row, QueryValue[]>(sql).all(...values);
  };
  const list = createTransferList(run, SQLITE);
  const found: string[] = [];
  for (let token: string | undefined, page = 0; page < 3; page += 1) {
    const { items, nextToken } = await list(walletId, { size: 1, token }, { kinds: ["top_up"] });
    found.push(...items.map(({ transferId }) => transferId));
    token = nextToken;
  }
  expect(found).toEqual(["c", "b", "a"]);
  expect(plans).toHaveLength(3);
  for (const plan of plans) expect(plan).toContain("USING INDEX transfers_in");
  client.close();
  await close();
});
