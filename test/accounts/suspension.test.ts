import { beforeEach, describe, expect, test } from "bun:test";
import { findAccount } from "../../src/accounts/accounts.ts";
import { COMMAND_LINE } from "../../src/accounts/audit-trail.ts";
import { createAuthenticate } from "../../src/accounts/keys/authenticate.ts";
import { issueKey } from "../../src/accounts/keys/keys.ts";
import { freezeSuspended, resumeAccount, suspendAccount } from "../../src/accounts/suspension.ts";
import { actionsOf } from "./actors.ts";
import { DIALECTS, storageForTests } from "./temp-storage.ts";

describe.each(DIALECTS)("suspension in %s", (dialect) => {
  const storage = storageForTests(dialect);
  let accountId: string;
  beforeEach(async () => {
    accountId = (await storage.newAccount()).id;
  });

  const states = async () => [
    (await findAccount(storage.database, accountId))?.state,
    (await storage.ledger.wallet(accountId))?.state,
  ];
  const suspend = () => suspendAccount(storage, COMMAND_LINE, accountId, "abuse");
  const resume = () => resumeAccount(storage, COMMAND_LINE, accountId, "paid");

  test("suspension freezes the wallet, and its end frees it, each with one audit entry", async () => {
    expect(await suspend()).toMatchObject({ state: "suspended", version: 2 });
    await suspend();
    expect(await states()).toEqual(["suspended", "frozen"]);
    expect(await resume()).toMatchObject({ state: "active", version: 3 });
    expect(await states()).toEqual(["active", "active"]);
    const actions = await actionsOf(storage.database, accountId);
    expect(actions).toEqual(["account.created", "account.suspended", "account.resumed"]);
  });

  test("keys of a suspended account are refused within a second, whatever was cached", async () => {
    const { secret } = await issueKey(storage, { accountId, name: "k" });
    let ageMs = 0;
    const authenticate = createAuthenticate({ database: storage.database, monotonicMs: () => ageMs });
    expect((await authenticate(secret)).accountSuspended).toBe(false);
    await suspend();
    ageMs = 500;
    expect((await authenticate(secret)).accountSuspended).toBe(true);
  });

  test("a suspension cut off before the wallet is completed by the sweep", async () => {
    const ledger = { ...storage.ledger, setWalletState: () => Promise.reject(new Error("killed")) };
    const cut = suspendAccount({ ...storage, ledger }, COMMAND_LINE, accountId, "abuse");
    await expect(cut).rejects.toThrow("killed");
    expect(await states()).toEqual(["suspended", "active"]);
    expect(await freezeSuspended(storage)).toBe(1);
    expect(await states()).toEqual(["suspended", "frozen"]);
    expect(await freezeSuspended(storage)).toBe(0);
  });

  test("an end of a suspension that was cut off leaves it suspended", async () => {
    await suspend();
    const transact = () => Promise.reject(new Error("killed"));
    const database = { ...storage.database, transact };
    await expect(resumeAccount({ ...storage, database }, COMMAND_LINE, accountId, "paid")).rejects.toThrow(
      "killed",
    );
    expect(await states()).toEqual(["suspended", "active"]);
    await freezeSuspended(storage);
    expect(await states()).toEqual(["suspended", "frozen"]);
    expect(await actionsOf(storage.database, accountId)).not.toContain("account.resumed");
  });

  test("wallet and account agree after suspensions, ends and sweeps at once", async () => {
    for (let round = 0; round < 5; round += 1) {
      await Promise.all([suspend(), resume(), freezeSuspended(storage), suspend(), resume()]);
      const [account, wallet] = await states();
      expect(wallet).toBe(account === "active" ? "active" : "frozen");
    }
  });

  test("a frozen wallet of another service is no matter of the sweep", async () => {
    await storage.ledger.setWalletState({ walletId: accountId, state: "frozen" });
    expect(await freezeSuspended(storage)).toBe(0);
    expect(await states()).toEqual(["active", "frozen"]);
  });

  test("an unknown account can be neither suspended nor resumed", async () => {
    for (const change of [suspendAccount, resumeAccount]) {
      await expect(change(storage, COMMAND_LINE, "nobody", "x")).rejects.toMatchObject({
        kind: "unknown_item",
      });
    }
  });
});
