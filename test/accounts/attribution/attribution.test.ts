import { describe, expect, test } from "bun:test";
import { createEndUserHash } from "../../../src/accounts/attribution/end-user-names.ts";
import { createRunStore } from "../../../src/accounts/attribution/runs.ts";
import { attributionOf, setAttribution } from "../../../src/accounts/attribution/settings.ts";
import { createTagValueSweep, createTagValues } from "../../../src/accounts/attribution/tag-values.ts";
import { COMMAND_LINE, listAuditEntries } from "../../../src/accounts/audit-trail.ts";
import { DAY_MS } from "../../../src/domain/id-time.ts";
import { DIALECTS, storageForTests } from "../temp-storage.ts";

describe.each(DIALECTS)("attribution in %s", (dialect) => {
  const storage = storageForTests(dialect);

  describe("values of a tag", () => {
    /** Gateways of one database, each with a memory of its own. */
    const gateways = (count: number) =>
      Array.from({ length: count }, () => createTagValues({ ...storage, now: storage.now, valuesMax: 3 }));

    test("count as themselves up to the maximum, and as other above it, in every gateway", async () => {
      const [one, two] = gateways(2);
      const count = async (gateway = one, value = "") => gateway?.("a", "feature", value);
      expect(await count(one, "x")).toBe("x");
      expect(await count(two, "y")).toBe("y");
      expect(await count(one, "z")).toBe("z");
      expect(await count(two, "w")).toBe("other");
      expect(await count(one, "w")).toBe("other");
      for (const value of ["x", "y", "z"]) {
        expect(await count(one, value)).toBe(value);
        expect(await count(two, value)).toBe(value);
      }
    });

    test("are counted for each account, tag and UTC day apart", async () => {
      const [gateway] = gateways(1);
      for (const value of ["1", "2", "3"]) await gateway?.("a", "feature", value);
      expect(await gateway?.("a", "feature", "4")).toBe("other");
      expect(await gateway?.("a", "team", "4")).toBe("4");
      expect(await gateway?.("b", "feature", "4")).toBe("4");
      storage.clock.nowMs += DAY_MS;
      expect(await gateway?.("a", "feature", "4")).toBe("4");
    });

    test("are known at once when they were asked for, and read once when all are", async () => {
      const [gateway] = gateways(1);
      for (const value of ["1", "2", "3", "4"]) await gateway?.("a", "feature", value);
      expect(gateway?.("a", "feature", "1")).toBe("1");
      expect(gateway?.("a", "feature", "5")).toBe("other");
    });

    test("of past days are deleted by a sweep", async () => {
      const [gateway] = gateways(1);
      for (let at = 0; at < 50; at += 1) await gateway?.("a", `feature-${at}`, "old");
      storage.clock.nowMs += 4 * DAY_MS;
      await gateway?.("a", "feature", "new");
      const sweep = createTagValueSweep(storage);
      await sweep();
      await sweep();
      const rows = await storage.database.db.select().from(storage.database.tables.tagValues);
      expect(rows.map(({ value }) => value)).toEqual(["new"]);
    });
  });

  describe("runs", () => {
    const run = (runId: string, amount: bigint) => ({ accountId: "a", keyId: "k", runId, amount });
    /** Returns a function that stores a run and returns the amount of its limit. */
    const createStore = (runsMax?: number) => {
      const store = createRunStore({ ...storage, ...(runsMax !== undefined && { runsMax }) });
      return async (of: Parameters<typeof store>[0]) => (await store(of))?.amount;
    };

    test("keep the limit of the request that came first, in every gateway", async () => {
      const [one, two] = [createStore(), createStore()];
      expect(await one(run("r", 5n))).toBe(5n);
      expect(await two(run("r", 9n))).toBe(5n);
      expect(await two({ ...run("r", 9n), keyId: "other" })).toBe(9n);
      const together = await Promise.all([1n, 2n, 3n, 4n].map((amount) => createStore()(run("s", amount))));
      expect(new Set(together).size).toBe(1);
    });

    test("of a key are bounded in number on a day", async () => {
      const store = createStore(2);
      expect([await store(run("1", 1n)), await store(run("2", 1n))]).toEqual([1n, 1n]);
      expect(await store(run("3", 1n))).toBeUndefined();
      expect(await store(run("1", 7n))).toBe(1n);
      expect(await store({ ...run("3", 1n), keyId: "other" })).toBe(1n);
      storage.clock.nowMs += DAY_MS;
      expect(await store(run("3", 1n))).toBe(1n);
    });
  });

  test("the hash of an end user is the same in every gateway, and another in every account", async () => {
    const [one, two] = [createEndUserHash(storage.database), createEndUserHash(storage.database)];
    const hash = await one("a", "alice");
    expect(hash).toMatch(/^[0-9a-f]{64}$/);
    expect(await two("a", "alice")).toBe(hash);
    expect(one("a", "alice")).toBe(hash);
    expect(await two("b", "alice")).not.toBe(hash);
    expect(await two("a", "alicf")).not.toBe(hash);
  });

  test("settings are changed with an audit entry, once, and are checked", async () => {
    const { id } = await storage.newAccount();
    const set = (edit: Parameters<typeof setAttribution>[3]) =>
      setAttribution(storage, COMMAND_LINE, id, edit);
    const changed = await set({ endUsers: "hashed", tagKeys: ["team", "feature", "team"] });
    expect(attributionOf(changed)).toEqual({ endUsers: "hashed", tagKeys: ["feature", "team"] });
    expect(attributionOf(await set({ endUsers: "plain" }))).toEqual({
      endUsers: "plain",
      tagKeys: ["feature", "team"],
    });
    await set({ endUsers: "plain" });
    expect(attributionOf(await set({ tagKeys: [] })).tagKeys).toEqual([]);
    const page = { size: 10, after: undefined };
    const entries = await listAuditEntries(storage.database, { action: "account.attribution_changed" }, page);
    expect(entries).toHaveLength(3);
    for (const key of ["", "Team", "1a", "a b", "a=b", "x".repeat(33)]) {
      await expect(set({ tagKeys: [key] })).rejects.toMatchObject({ kind: "wrong_shape" });
    }
    const many = Array.from({ length: 21 }, (_, index) => `key${index}`);
    await expect(set({ tagKeys: many })).rejects.toMatchObject({ kind: "wrong_shape" });
  });
});
