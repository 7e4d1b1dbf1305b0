import { describe, expect, test } from "bun:test";
import { createAccount, findAccount, listAccounts } from "../../src/accounts/accounts.ts";
import { DIALECTS, storageForTests } from "./temp-storage.ts";

describe.each(DIALECTS)("accounts in %s", (dialect) => {
  const storage = storageForTests(dialect);

  describe("createAccount", () => {
    test("creates an empty wallet with the id of the account", async () => {
      const account = await createAccount(storage, { name: "acme", email: "a@acme.example" });
      expect(account).toMatchObject({ name: "acme", email: "a@acme.example", state: "active" });
      expect(account.createdAtMs).toBe(storage.clock.nowMs);
      expect(account.id).toMatch(/^[\da-f]{8}-[\da-f]{4}-7[\da-f]{3}-[89ab][\da-f]{3}-[\da-f]{12}$/);
      expect(await storage.ledger.balances(account.id)).toEqual({ posted: 0n, held: 0n, available: 0n });
    });

    test("rejects a name that is taken with conflict and leaves no second wallet", async () => {
      await storage.newAccount("acme");
      await expect(storage.newAccount("acme")).rejects.toMatchObject({ kind: "conflict" });
      expect((await storage.ledger.wallets({ size: 10 })).items).toHaveLength(1);
    });

    test("creates only one of two concurrent accounts with one name", async () => {
      const attempts = await Promise.allSettled([storage.newAccount("acme"), storage.newAccount("acme")]);
      expect(attempts.map(({ status }) => status).sort()).toEqual(["fulfilled", "rejected"]);
      expect(await listAccounts(storage.database)).toHaveLength(1);
    });

    test("creates nothing when the wallet cannot be created", async () => {
      const ledger = { createWallet: () => Promise.reject(new Error("down")) };
      await expect(createAccount({ ...storage, ledger }, { name: "acme" })).rejects.toThrow("down");
      expect(await listAccounts(storage.database)).toEqual([]);
    });
  });

  describe("findAccount", () => {
    test("finds an account by its exact id or name, and not by a part or in another case", async () => {
      const account = await storage.newAccount("Acme % Co");
      for (const known of [account.id, "Acme % Co"])
        expect(await findAccount(storage.database, known)).toEqual(account);
      for (const unknown of ["", "%", "acme % co", "Acme", account.id.slice(1), "' OR 1=1 --"]) {
        expect(await findAccount(storage.database, unknown)).toBeUndefined();
      }
    });

    test("is unambiguous: the id of an account is rejected as the name of another one", async () => {
      const { id } = await storage.newAccount();
      await expect(storage.newAccount(id)).rejects.toMatchObject({ kind: "conflict" });
    });
  });

  describe("listAccounts", () => {
    test("lists accounts from oldest to newest", async () => {
      for (const name of ["c", "a", "b"]) {
        storage.clock.nowMs += 1;
        await storage.newAccount(name);
      }
      expect((await listAccounts(storage.database)).map(({ name }) => name)).toEqual(["c", "a", "b"]);
    });
  });
});
