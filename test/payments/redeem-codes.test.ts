import { beforeEach, describe, expect, test } from "bun:test";
import type { AuditActor } from "../../src/accounts/audit-trail.ts";
import { LedgerError } from "../../src/ledger/ledger.ts";
import type { PaymentParts } from "../../src/payments/bookings.ts";
import { listCodes } from "../../src/payments/code-list.ts";
import {
  createCodes,
  type NewCodes,
  redeemCode,
  revokeCode,
  stateOfCode,
} from "../../src/payments/redeem-codes.ts";
import { sweepPayments } from "../../src/payments/sweep.ts";
import { DIALECTS, storageForTests } from "../accounts/temp-storage.ts";
import { createCapturedLog } from "../support/captured-log.ts";

const OPERATOR: AuditActor = { kind: "person", id: "o", name: "operator@example.com" };
const OWNER: AuditActor = { kind: "person", id: "p", name: "owner@example.com", address: "192.0.2.7" };
const DAY_MS = 86_400_000;
const AMOUNT = 12_500_000_001n;

describe.each(DIALECTS)("redeem codes in %s", (dialect) => {
  const storage = storageForTests(dialect);
  let accountId: string;
  beforeEach(async () => {
    accountId = (await storage.newAccount()).id;
  });

  async function newCode(more: Partial<NewCodes> = {}): Promise<string> {
    const [issued] = await createCodes(storage, OPERATOR, { amount: AMOUNT, count: 1, ...more });
    return issued?.code ?? "";
  }

  const redeem = (text: string, by = accountId, parts: PaymentParts = storage) =>
    redeemCode(parts, OWNER, { accountId: by, text });
  const postedOf = async (id = accountId) => (await storage.ledger.balances(id)).posted;
  const refused = { kind: "unknown_item" };

  /** A ledger that is away, or whose answer is lost after it has booked the top-up. */
  function withLedger(books: boolean): PaymentParts {
    const topUp: PaymentParts["ledger"]["topUp"] = async (request) => {
      if (books) await storage.ledger.topUp(request);
      throw new LedgerError("unavailable");
    };
    return { ...storage, ledger: { topUp } };
  }

  test("a code adds its amount to the nano, once", async () => {
    const code = await newCode();
    expect(await redeem(code)).toEqual({ amount: AMOUNT });
    expect(await postedOf()).toBe(AMOUNT);
    await expect(redeem(code)).rejects.toMatchObject(refused);
    expect(await postedOf()).toBe(AMOUNT);
  });

  const creditsOf = async () => {
    const { items } = await storage.ledger.credits(accountId, { size: 10 });
    return items.map(({ source, left, expiresAtMs }) => ({ source, left, expiresAtMs }));
  };

  test("a code grants a promotion that never ends, or the credit that its operator chose", async () => {
    await redeem(await newCode());
    await redeem(await newCode({ source: "purchase", creditDays: 30 }));
    const expiresAtMs = storage.clock.nowMs + 30 * DAY_MS;
    expect(await creditsOf()).toEqual([
      { source: "purchase", left: AMOUNT, expiresAtMs },
      { source: "promotion", left: AMOUNT, expiresAtMs: undefined },
    ]);
  });

  test.each([false, true])(
    "days of a credit that pass before it is recorded begin anew only if it was not booked (booked: %p)",
    async (books) => {
      const code = await newCode({ creditDays: 2 });
      const redeemedAtMs = storage.clock.nowMs;
      await expect(redeem(code, accountId, withLedger(books))).rejects.toMatchObject({ code: "unavailable" });
      storage.clock.nowMs += 3 * DAY_MS;
      const log = createCapturedLog();
      expect(await sweepPayments({ ...storage, log })).toBe(1);
      expect(await sweepPayments({ ...storage, log })).toBe(0);
      const expiresAtMs = books ? redeemedAtMs + 2 * DAY_MS : storage.clock.nowMs + 2 * DAY_MS;
      expect(await creditsOf()).toEqual([{ source: "promotion", left: books ? 0n : AMOUNT, expiresAtMs }]);
    },
  );

  test("a code is redeemed in lower case and with letters that people confuse", async () => {
    const code = await newCode();
    await redeem(code.toLowerCase().replaceAll("-", " ").replaceAll("0", "o").replaceAll("1", "l"));
    expect(await postedOf()).toBe(AMOUNT);
  });

  test("50 redemptions of one code at once by 50 accounts credit one of them", async () => {
    const code = await newCode();
    const ids = await Promise.all(Array.from({ length: 50 }, async () => (await storage.newAccount()).id));
    const results = await Promise.allSettled(ids.map((id) => redeem(code, id)));
    expect(results.filter(({ status }) => status === "fulfilled")).toHaveLength(1);
    const balances = await Promise.all(ids.map(postedOf));
    expect(balances.filter((posted) => posted === AMOUNT)).toHaveLength(1);
    expect(balances.reduce((sum, posted) => sum + posted)).toBe(AMOUNT);
  });

  test("50 redemptions of one code at once by one account credit it once", async () => {
    const code = await newCode();
    await Promise.allSettled(Array.from({ length: 50 }, () => redeem(code)));
    expect(await postedOf()).toBe(AMOUNT);
  });

  test("unknown, used, expired and revoked codes and other texts are refused alike", async () => {
    const used = await newCode();
    await redeem(used);
    const expired = await newCode({ expiresAtMs: storage.clock.nowMs + 1_000 });
    const revoked = await newCode();
    const [row] = (await listCodes(storage.database, { size: 1, nowMs: 0 })).items;
    await revokeCode(storage, OPERATOR, row?.id ?? "");
    storage.clock.nowMs += 1_000;
    for (const text of [used, expired, revoked, "00000-00000-00000-00000", "", "x", "\u0000", "%"]) {
      await expect(redeem(text)).rejects.toMatchObject(refused);
    }
    expect(await postedOf()).toBe(AMOUNT);
  });

  test("a code is in force until the millisecond of its expiry", async () => {
    const code = await newCode({ expiresAtMs: storage.clock.nowMs + 1_000 });
    storage.clock.nowMs += 999;
    await redeem(code);
    expect(await postedOf()).toBe(AMOUNT);
  });

  test.each([false, true])(
    "a code whose credit failed is credited by the sweep (booked: %p)",
    async (books) => {
      const code = await newCode();
      await expect(redeem(code, accountId, withLedger(books))).rejects.toMatchObject({ code: "unavailable" });
      const log = createCapturedLog();
      expect(await sweepPayments({ ...storage, log })).toBe(1);
      expect(await sweepPayments({ ...storage, log })).toBe(0);
      expect(await postedOf()).toBe(AMOUNT);
      await expect(redeem(code)).rejects.toMatchObject(refused);
    },
  );

  test("a code whose credit failed is completed by the same account and refused to others", async () => {
    const code = await newCode();
    await expect(redeem(code, accountId, withLedger(false))).rejects.toMatchObject({ code: "unavailable" });
    const other = (await storage.newAccount()).id;
    await expect(redeem(code, other)).rejects.toMatchObject(refused);
    expect(await redeem(code)).toEqual({ amount: AMOUNT });
    expect(await postedOf()).toBe(AMOUNT);
    expect(await postedOf(other)).toBe(0n);
  });

  test("two sweeps and a redemption at once credit a bound code once", async () => {
    const code = await newCode();
    await expect(redeem(code, accountId, withLedger(false))).rejects.toMatchObject({ code: "unavailable" });
    const parts = { ...storage, log: createCapturedLog() };
    await Promise.allSettled([sweepPayments(parts), sweepPayments(parts), redeem(code)]);
    expect(await postedOf()).toBe(AMOUNT);
  });

  test("a payment that cannot be credited does not hold up the others", async () => {
    const { database } = storage;
    const codes = [await newCode(), await newCode()];
    for (const code of codes) {
      await expect(redeem(code, accountId, withLedger(false))).rejects.toMatchObject({ code: "unavailable" });
    }
    const { redeemCodes } = database.tables;
    const [row] = (await listCodes(database, { size: 1, nowMs: 0 })).items;
    const { eq } = await import("drizzle-orm");
    await database.transact((tx) =>
      tx
        .update(redeemCodes)
        .set({ accountId: "nothing" })
        .where(eq(redeemCodes.id, row?.id ?? "")),
    );
    const log = createCapturedLog();
    expect(await sweepPayments({ ...storage, log })).toBe(1);
    expect(await postedOf()).toBe(AMOUNT);
    expect(log.text()).toContain("wallet_not_found");
  });

  test("a used code cannot be revoked, and a revoked code not redeemed", async () => {
    const code = await newCode();
    await redeem(code);
    const [row] = (await listCodes(storage.database, { size: 1, nowMs: 0 })).items;
    await expect(revokeCode(storage, OPERATOR, row?.id ?? "")).rejects.toMatchObject({ kind: "conflict" });
    await expect(revokeCode(storage, OPERATOR, "nothing")).rejects.toMatchObject(refused);
  });

  test("a redemption and a revocation at once have one winner", async () => {
    for (let round = 0; round < 10; round += 1) {
      const code = await newCode();
      const [row] = (await listCodes(storage.database, { size: 1, nowMs: 0 })).items;
      const before = await postedOf();
      const [redeemed, revoked] = await Promise.allSettled([
        redeem(code),
        revokeCode(storage, OPERATOR, row?.id ?? ""),
      ]);
      expect([redeemed.status, revoked.status].sort()).toEqual(["fulfilled", "rejected"]);
      expect((await postedOf()) - before).toBe(redeemed.status === "fulfilled" ? AMOUNT : 0n);
    }
  });

  test("codes are listed newest first, page by page, with their state", async () => {
    for (let made = 0; made < 5; made += 1) {
      storage.clock.nowMs += 1;
      await newCode(made === 0 ? { expiresAtMs: storage.clock.nowMs + 10 } : {});
    }
    const { items: all } = await listCodes(storage.database, { size: 10, nowMs: 0 });
    expect(all.map(({ createdAtMs }) => createdAtMs)).toEqual(
      all.map(({ createdAtMs }) => createdAtMs).sort((a, b) => b - a),
    );
    const { items: rest } = await listCodes(storage.database, { size: 10, token: all[1]?.id, nowMs: 0 });
    expect(rest.map(({ id }) => id)).toEqual(all.slice(2).map(({ id }) => id));
    const states = all.map((code) => stateOfCode(code, storage.clock.nowMs + 60_000));
    expect(states).toEqual(["open", "open", "open", "open", "expired"]);
  });

  test("the tables hold neither a code nor 15 symbols of it", async () => {
    const code = (await newCode()).replaceAll("-", "");
    const { db, tables } = storage.database;
    const rows = JSON.stringify(
      [await db.select().from(tables.redeemCodes), await db.select().from(tables.auditEntries)],
      (_name, value) => (typeof value === "bigint" ? `${value}` : value),
    );
    expect(rows).toContain(code.slice(0, 5));
    for (let at = 0; at < 15; at += 1) expect(rows).not.toContain(code.slice(at, at + 6));
  });

  test("creation, redemption and revocation are in the audit trail", async () => {
    await redeem(await newCode());
    await newCode();
    const [row] = (await listCodes(storage.database, { size: 1, nowMs: 0 })).items;
    await revokeCode(storage, OPERATOR, row?.id ?? "");
    const { db, tables } = storage.database;
    const entries = await db.select().from(tables.auditEntries);
    const ours = entries.filter(({ action }) => action.startsWith("code."));
    const seen = ours.map(({ action, accountId: account, actorName }) => [action, account, actorName]);
    expect(seen.sort()).toEqual([
      ["code.created", null, OPERATOR.name],
      ["code.created", null, OPERATOR.name],
      ["code.redeemed", accountId, OWNER.name],
      ["code.revoked", null, OPERATOR.name],
    ]);
  });

  test("no code is created when its audit entry cannot be written", async () => {
    const creating = createCodes(storage, OPERATOR, { amount: AMOUNT, count: 3 }, async () => {
      throw new Error("refused");
    });
    await expect(creating).rejects.toThrow("refused");
    expect((await listCodes(storage.database, { size: 10, nowMs: 0 })).items).toEqual([]);
  });
});
