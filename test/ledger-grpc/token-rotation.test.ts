import { afterEach, beforeEach, expect, test } from "bun:test";
import { credentials } from "@grpc/grpc-js";
import { type Ledger, LedgerError } from "../../src/ledger/ledger.ts";
import { connectLedger } from "../../src/ledger-grpc/client/client.ts";
import { LedgerLinkError } from "../../src/ledger-grpc/client/link-error.ts";
import { type LedgerServer, serveLedger } from "../../src/ledger-grpc/server/server.ts";
import { type OpenLedger, openLedger, WALLET } from "../ledger/samples.ts";
import { createCapturedLog } from "../support/captured-log.ts";
import { until } from "../support/until.ts";
import { createCaller, failureOf, PATIENT, tokenOf } from "./served.ts";

const OLD = "the-token-before-the-rotation";
const NEW = "the-token-after-the-rotation";
/** One rotation: what server and client know, after each of its steps. */
const ROTATION: readonly (readonly string[])[] = [[OLD], [NEW, OLD], [NEW]];

let storage: OpenLedger;
let server: LedgerServer;
let client: Ledger;
let known: { server: readonly string[]; client: readonly string[] };

beforeEach(async () => {
  known = { server: [OLD], client: [OLD] };
  storage = await openLedger(0n);
  server = await serveLedger({
    ledger: storage.ledger,
    listen: { host: "127.0.0.1", port: 0 },
    tokens: () => known.server,
    log: createCapturedLog(),
  });
  client = connectLedger({ address: server.address, tokens: () => known.client, ...PATIENT });
});

afterEach(async () => {
  await client.close();
  await server.stop();
  await storage.close();
});

/** Sends reads and mutations until `isOver`, and counts both. Rejects at the first failed call. */
async function callOn(isOver: () => boolean): Promise<number> {
  let count = 0;
  for (; !isOver() || count === 0; count++) {
    await Promise.all([client.balances(WALLET), client.topUp(topUpOf(`${Math.random()}`))]);
  }
  return count;
}

function topUpOf(topUpId: string) {
  return { walletId: WALLET, topUpId, amount: 1n };
}

test.each([
  ["server", "client"],
  ["client", "server"],
] as const)("no call fails when the %s learns each step of a rotation first", async (first, second) => {
  let isOver = false;
  const calls = Promise.all([callOn(() => isOver), callOn(() => isOver)]);
  for (const tokens of ROTATION.slice(1)) {
    known = { ...known, [first]: tokens };
    await callOn(() => true);
    known = { ...known, [second]: tokens };
    await callOn(() => true);
  }
  isOver = true;
  expect(Math.min(...(await calls))).toBeGreaterThan(0);
});

test("a client that opens its connection in the middle of a rotation tries the other token", async () => {
  known = { server: [OLD], client: [NEW, OLD] };
  const other = connectLedger({ address: server.address, tokens: () => known.client, ...PATIENT });
  expect(await other.topUp(topUpOf("t1"))).toMatchObject({ replayed: false });
  await other.close();
});

test("a client whose tokens are all denied fails at once, and works when it learns another", async () => {
  known = { server: [NEW], client: [OLD, `${OLD}-2`] };
  const other = connectLedger({ address: server.address, tokens: () => known.client, ...PATIENT });
  const error = await other.balances(WALLET).catch((thrown: unknown) => thrown);
  expect(error instanceof LedgerError && error.cause instanceof LedgerLinkError && error.cause.code).toBe(
    "denied",
  );
  known = { server: [NEW], client: [NEW] };
  const isUp = () =>
    other.balances(WALLET).then(
      () => true,
      () => false,
    );
  await until(isUp);
  expect(await isUp()).toBe(true);
  await other.close();
});

test("the server accepts each token in force, and denies a former one at the next call", async () => {
  known = { ...known, server: [NEW, OLD] };
  const { call, client: caller } = createCaller(server.address, credentials.createInsecure());
  await call("Ping", {}, {}, tokenOf(NEW));
  await call("Ping", {}, {}, tokenOf(OLD));
  known = { ...known, server: [NEW] };
  expect(await failureOf(call("Ping", {}, {}, tokenOf(OLD)))).toMatchObject({ code: "UNAUTHENTICATED" });
  caller.close();
});
