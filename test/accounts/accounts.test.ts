import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { createAccount, findAccount, listAccounts } from "../../src/accounts/accounts.ts";
import { DIALECTS, openTempStorage, type TempStorage } from "./temp-storage.ts";

describe.each(DIALECTS)("accounts in %s", (dialect) => {
  let books: TempStorage;
  beforeEach(async () => {
    books = await openTempStorage(dialect);
  });
  afterEach(() => books.close());

  describe("createAccount", () => {
    test("gives the account an empty wallet of the same id", async () => {
      const account = await createAccount(books, { name: "acme", email: "a@acme.example" });
      expect(account).toMatchObject({ name: "acme", email: "a@acme.example", state: "active" });
      expect(account.createdAtMs).toBe(books.clock.nowMs);
      expect(account.id).toMatch(/^[\da-f]{8}-[\da-f]{4}-7[\da-f]{3}-[89ab][\da-f]{3}-[\da-f]{12}$/);
      expect(await books.ledger.balances(account.id)).toEqual({ posted: 0n, held: 0n, available: 0n });
    });

    test("refuses a name that is taken and leaves no second wallet", async () => {
      await books.newAccount("acme");
      await expect(books.newAccount("acme")).rejects.toMatchObject({ kind: "conflict" });
      expect((await books.ledger.wallets({ size: 10 })).items).toHaveLength(1);
    });

    test("creates one of two accounts that want the same name at once", async () => {
      const attempts = await Promise.allSettled([books.newAccount("acme"), books.newAccount("acme")]);
      expect(attempts.map(({ status }) => status).sort()).toEqual(["fulfilled", "rejected"]);
      expect(await listAccounts(books.database)).toHaveLength(1);
    });

    test("creates nothing when the wallet cannot be created", async () => {
      const ledger = { createWallet: () => Promise.reject(new Error("down")) };
      await expect(createAccount({ ...books, ledger }, { name: "acme" })).rejects.toThrow("down");
      expect(await listAccounts(books.database)).toEqual([]);
    });
  });

  describe("findAccount", () => {
    test("finds by id and by name, and nothing by parts or other cases of it", async () => {
      const account = await books.newAccount("Acme % Co");
      for (const known of [account.id, "Acme % Co"])
        expect(await findAccount(books.database, known)).toEqual(account);
      for (const unknown of ["", "%", "acme % co", "Acme", account.id.slice(1), "' OR 1=1 --"]) {
        expect(await findAccount(books.database, unknown)).toBeUndefined();
      }
    });

    test("is never in doubt: no account takes another's id for its name", async () => {
      const { id } = await books.newAccount();
      await expect(books.newAccount(id)).rejects.toMatchObject({ kind: "conflict" });
    });
  });

  describe("listAccounts", () => {
    test("lists the oldest first", async () => {
      for (const name of ["c", "a", "b"]) {
        books.clock.nowMs += 1;
        await books.newAccount(name);
      }
      expect((await listAccounts(books.database)).map(({ name }) => name)).toEqual(["c", "a", "b"]);
    });
  });
});
