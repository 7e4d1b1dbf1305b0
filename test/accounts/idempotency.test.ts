import { beforeEach, describe, expect, test } from "bun:test";
import type { Actor } from "../../src/accounts/audit-trail.ts";
import { createOnce, type KeepAnswer, sweepAnswers } from "../../src/accounts/idempotency.ts";
import type { Db } from "../../src/db/database.ts";
import { DIALECTS, storageForTests } from "./temp-storage.ts";

const DAY_MS = 86_400_000;
const SECRET = `mk-tg-${"s".repeat(43)}`;
const ACTOR: Actor = {
  kind: "management_key",
  id: "key",
  name: "mk-tg-ssss",
  isOperator: true,
  role: undefined,
  acting: undefined,
  session: undefined,
  address: undefined,
};

interface Made {
  readonly number: number;
  readonly secret: string;
}

describe.each(DIALECTS)("idempotent creation in %s", (dialect) => {
  const storage = storageForTests(dialect);
  let made: number;
  beforeEach(async () => {
    made = 0;
  });

  const requestOf = (key: string | undefined, headers: Record<string, string> = {}) =>
    new Request("http://console.test/console/api/accounts?x=1", {
      method: "POST",
      headers: {
        authorization: `Bearer ${SECRET}`,
        ...(key === undefined ? {} : { "idempotency-key": key }),
        ...headers,
      },
    });
  /** Creates a row of a table, so that what a transaction leaves can be counted. */
  const insert = async (tx: Db, keep: KeepAnswer<Made>): Promise<Made> => {
    made += 1;
    const { sharedValues } = storage.database.tables;
    await tx.insert(sharedValues).values({ name: `made ${made}`, value: "x" });
    const answer = { number: made, secret: "sk-tg-topsecret" };
    await keep(tx, answer);
    return answer;
  };
  const create = (key: string | undefined, body: unknown = { name: "a" }, actor = ACTOR, headers = {}) =>
    createOnce<Made>(storage, { request: requestOf(key, headers), body }, actor, (keep) =>
      storage.database.transact((tx) => insert(tx, keep)),
    );
  const rows = async () => storage.database.db.select().from(storage.database.tables.sharedValues);
  const answers = async () => storage.database.db.select().from(storage.database.tables.idempotentAnswers);

  test("a repeated key gets the first answer and creates nothing", async () => {
    const first = await create("k1", { name: "a", more: { x: 1, y: [2] } });
    expect(await create("k1", { more: { y: [2], x: 1 }, name: "a" })).toEqual(first);
    expect(await rows()).toHaveLength(1);
    expect(await create("k2")).toEqual({ number: 2, secret: "sk-tg-topsecret" });
  });

  test("a repeated key with another body is a conflict", async () => {
    await create("k1", { name: "a" });
    await expect(create("k1", { name: "b" })).rejects.toMatchObject({ kind: "conflict" });
    expect(await rows()).toHaveLength(1);
  });

  test("requests without a key always create, and keep no answer", async () => {
    await create(undefined);
    await create(undefined);
    expect(await rows()).toHaveLength(2);
    expect(await answers()).toEqual([]);
  });

  test("of ten equal requests at once one creates", async () => {
    const ended = await Promise.allSettled(Array.from({ length: 10 }, () => create("k1")));
    expect(made).toBe(1);
    for (const each of ended) {
      if (each.status === "rejected") expect(each.reason).toMatchObject({ kind: "conflict" });
      else expect(each.value.number).toBe(1);
    }
    expect((await create("k1")).number).toBe(1);
  });

  test("while the first runs, a repetition is a conflict", async () => {
    const { promise, resolve } = Promise.withResolvers<void>();
    const request = { request: requestOf("k1"), body: { name: "a" } };
    const first = createOnce<Made>(storage, request, ACTOR, async (keep) => {
      await promise;
      return storage.database.transact((tx) => insert(tx, keep));
    });
    while ((await answers()).length === 0) await Bun.sleep(1);
    await expect(create("k1")).rejects.toMatchObject({ kind: "conflict" });
    resolve();
    expect((await first).number).toBe(1);
    expect((await create("k1")).number).toBe(1);
  });

  test("a failed creation leaves nothing, and a repetition tries again", async () => {
    const request = { request: requestOf("k1"), body: { name: "a" } };
    const failing = createOnce<Made>(storage, request, ACTOR, (keep) =>
      storage.database.transact(async (tx) => {
        await insert(tx, keep);
        throw new Error("the disk is full");
      }),
    );
    await expect(failing).rejects.toThrow("the disk is full");
    expect(await answers()).toEqual([]);
    expect(await rows()).toEqual([]);
    await create("k1");
    expect(await rows()).toHaveLength(1);
  });

  test("a killed creation blocks its key for a minute, and cannot create afterwards", async () => {
    const { promise, resolve } = Promise.withResolvers<void>();
    const request = { request: requestOf("k1"), body: { name: "a" } };
    // The first process sleeps between claim and creation, as if stopped.
    const stopped = createOnce<Made>(storage, request, ACTOR, async (keep) => {
      await promise;
      return storage.database.transact((tx) => insert(tx, keep));
    });
    while ((await answers()).length === 0) await Bun.sleep(1);
    storage.clock.nowMs += 59_999;
    await expect(create("k1")).rejects.toMatchObject({ kind: "conflict" });
    storage.clock.nowMs += 1;
    const second = await create("k1");
    resolve();
    await expect(stopped).rejects.toMatchObject({ kind: "conflict" });
    expect(await rows()).toHaveLength(1);
    expect(await create("k1")).toEqual(second);
  });

  test("a claim of the future does not block a key after the clock was set back", async () => {
    const { idempotentAnswers } = storage.database.tables;
    await create("k1");
    await storage.database.db.update(idempotentAnswers).set({ answer: null });
    storage.clock.nowMs -= DAY_MS;
    expect((await create("k1")).number).toBe(2);
  });

  test("an answer is kept for 24 hours and then swept", async () => {
    await create("k1");
    storage.clock.nowMs += DAY_MS;
    await sweepAnswers(storage);
    expect((await create("k1")).number).toBe(1);
    storage.clock.nowMs += 1;
    expect((await create("k1")).number).toBe(2);
    storage.clock.nowMs += DAY_MS + 1;
    await sweepAnswers(storage);
    expect(await answers()).toEqual([]);
  });

  test("the kept answer shows neither the secret nor the key, and another credential cannot read it", async () => {
    await create("k1");
    const stored = JSON.stringify(await answers());
    for (const secret of ["sk-tg-topsecret", "topsecret", SECRET]) expect(stored).not.toContain(secret);
    const headers = { authorization: "Bearer another-secret" };
    const stolen = create("k1", { name: "a" }, ACTOR, headers);
    await expect(stolen).rejects.toMatchObject({ kind: "conflict" });
  });

  test("two callers use the same key without touching each other", async () => {
    const first = await create("k1");
    const other = { ...ACTOR, id: "other" };
    expect((await create("k1", { name: "a" }, other)).number).toBe(2);
    expect(await create("k1")).toEqual(first);
  });

  test("a management key may be sent with more blanks than one", async () => {
    const sent = { authorization: `Bearer \t ${SECRET}` };
    const first = await create("k1", {}, ACTOR, sent);
    expect(await create("k1", {}, ACTOR)).toEqual(first);
  });

  test("a session keeps its answers under its own cookie, whatever other programs set", async () => {
    const session = { id: "s1", mustChangePassword: false, confirmedAtMs: undefined };
    const person: Actor = { ...ACTOR, kind: "person", id: "p", session };
    let calls = 0;
    const otherCookie = () => `theme=dark; my_session_hint=${++calls}`;
    const call = (cookie: string) =>
      createOnce<Made>(
        storage,
        {
          request: new Request("http://console.test/", {
            method: "POST",
            headers: { "idempotency-key": "k1", cookie: `${otherCookie()}; ${cookie}` },
          }),
          body: {},
        },
        person,
        (keep) => storage.database.transact((tx) => insert(tx, keep)),
      );
    const cookie = "tollgate.session=abc.def";
    expect((await call(cookie)).number).toBe(1);
    expect((await call(cookie)).number).toBe(1);
    await expect(call("nothing=1")).rejects.toMatchObject({ kind: "no_session" });
  });

  test("a key of another form is refused before anything is created", async () => {
    for (const key of ["x".repeat(256), "a b", ""]) {
      await expect(create(key)).rejects.toMatchObject({ kind: "wrong_shape" });
    }
    expect(made).toBe(0);
  });
});
