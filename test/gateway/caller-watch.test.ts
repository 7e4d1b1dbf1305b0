import { afterEach, expect, test } from "bun:test";
import {
  type CallerWatch,
  createCallerWatch,
  type FindEndedKeys,
  type KeyEnd,
} from "../../src/gateway/caller-watch.ts";
import { createCapturedLog } from "../support/captured-log.ts";
import { until } from "../support/until.ts";

const EVERY_MS = 5;

let watch: CallerWatch;
afterEach(() => watch.close());

/** A watch over keys that end when added to `state.ended`; `state.asked` are its queries. */
function watching() {
  const state = {
    ended: new Map<string, KeyEnd>(),
    asked: [] as (readonly string[])[],
    fault: undefined as Error | undefined,
  };
  const findEnded: FindEndedKeys = async (keyIds) => {
    state.asked.push(keyIds);
    await Bun.sleep(1);
    if (state.fault) throw state.fault;
    return new Map([...state.ended].filter(([keyId]) => keyIds.includes(keyId)));
  };
  const log = createCapturedLog();
  watch = createCallerWatch({ findEnded, log, everyMs: EVERY_MS });
  return { state, log };
}

test("the watch sends no query without requests, nor for requests that end before the second look", async () => {
  const { state } = watching();
  await Bun.sleep(5 * EVERY_MS);
  for (let request = 0; request < 20; request += 1) {
    const caller = watch.start("k");
    await Bun.sleep(1);
    caller[Symbol.dispose]();
  }
  const caller = watch.start("last");
  await until(() => state.asked.length > 0);
  expect(state.asked[0]).toEqual(["last"]);
  caller[Symbol.dispose]();
  const asked = state.asked.length;
  await Bun.sleep(5 * EVERY_MS);
  expect(state.asked.length).toBeLessThanOrEqual(asked + 1);
});

test("every request of an ended key is aborted once, with the cause, and no request of another key", async () => {
  const { state } = watching();
  const aborted: string[] = [];
  const start = (keyId: string) => {
    const caller = watch.start(keyId);
    caller.addEventListener("abort", () => void aborted.push(keyId));
    return caller;
  };
  const [first, second, other, between] = [start("k"), start("k"), start("o"), start("s")];
  between.removeEventListener("abort", () => {});
  state.ended.set("k", "revoked").set("s", "suspended");
  await until(() => first.ended !== undefined && between.ended !== undefined);
  await Bun.sleep(5 * EVERY_MS);
  expect(aborted).toEqual(["k", "k"]);
  expect([first, second, between, other].map((caller) => caller.aborted)).toEqual([true, true, true, false]);
  expect([first, second, between, other].map(({ ended }) => ended?.kind)).toEqual([
    "key_revoked",
    "key_revoked",
    "account_suspended",
    undefined,
  ]);
});

test("a thousand requests of one key add one id to the query, and 2,500 keys take three queries", async () => {
  const { state } = watching();
  for (let request = 0; request < 1_000; request += 1) watch.start("k");
  await until(() => state.asked.length > 0);
  expect(state.asked[0]).toEqual(["k"]);
  for (let key = 0; key < 2_499; key += 1) watch.start(`k${key}`);
  await until(() => state.asked.some((keyIds) => keyIds.length === 500));
  const last = state.asked.findIndex((keyIds) => keyIds.length === 500);
  expect(state.asked.slice(last - 2, last + 1).map((keyIds) => keyIds.length)).toEqual([1_000, 1_000, 500]);
});

test("an outage of the database ends no request, is logged once, and is followed by new queries", async () => {
  const { state, log } = watching();
  state.fault = new Error("away");
  state.ended.set("k", "revoked");
  const caller = watch.start("k");
  await until(() => state.asked.length > 3);
  expect(caller.ended).toBeUndefined();
  state.fault = undefined;
  await until(() => caller.ended !== undefined);
  expect(
    log
      .text()
      .split("\n")
      .map((line) => JSON.parse(line)),
  ).toMatchObject([
    { level: "warn", event: "keys of running requests unread" },
    { level: "info", event: "keys of running requests read again" },
  ]);
});

test("a closed watch sends no more queries", async () => {
  const { state } = watching();
  watch.start("k");
  watch.close();
  watch.start("k");
  await Bun.sleep(5 * EVERY_MS);
  expect(state.asked).toEqual([]);
});
