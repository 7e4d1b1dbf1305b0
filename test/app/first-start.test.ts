import { expect, test } from "bun:test";
import { findOperators } from "../../src/accounts/people/operators.ts";
import { prepareFirstStart } from "../../src/app/first-start.ts";
import { DIALECTS, openTempStorage } from "../accounts/temp-storage.ts";

test.each(DIALECTS)(
  "a first start that ends between its key and its operator is done again in %s",
  async (dialect) => {
    const storage = await openTempStorage(dialect);
    const { database, ledger } = storage;
    const url = "http://127.0.0.1:8080";
    const config = { isDemoOnly: true, demo: undefined, host: "127.0.0.1", signUp: "invited" } as const;
    const start = () =>
      prepareFirstStart({ database, ledger, url, publicUrl: url, metricsAddress: undefined }, config);
    const rename = async (from: string, to: string) => {
      const statement = `ALTER TABLE ${from} RENAME TO ${to}`;
      if (database.dialect === "sqlite") database.sqlite.client.run(statement);
      else await database.postgres.client.unsafe(statement);
    };
    await rename("people", "people_away");
    for (const _ of ["first", "second"]) await expect(start()).rejects.toThrow();
    await rename("people_away", "people");
    const notice = await start();
    expect(notice).toMatch(/^ {2}key {6}sk-tg-[\w-]{43}$/m);
    expect(notice).toMatch(/^ {2}password \S+$/m);
    expect(await findOperators(database)).toMatchObject([{ email: "operator@localhost" }]);
    expect(await start()).toBeUndefined();
    await storage.close();
  },
);
