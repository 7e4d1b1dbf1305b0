import { afterAll, describe, expect, test } from "bun:test";
import { connect } from "node:net";
import type { Server } from "bun";
import { bytesOf } from "../../src/domain/byte-blocks.ts";
import { GatewayError } from "../../src/errors.ts";
import { createBodyReader } from "../../src/http/body.ts";
import { createConnectionIdle } from "../../src/http/connection-idle.ts";
import {
  type BodyBudget,
  createBodyBudget,
  createIncomingBodies,
  type IncomingBodies,
} from "../../src/http/incoming-bodies.ts";
import { sendRaw } from "../support/raw-client.ts";
import { until } from "../support/until.ts";

const BUDGET = 1024 * 1024;
const ACCOUNT_BUDGET = BUDGET / 2;
const MS_MAX = 150;
const KEY_BODIES_MAX = 20;
const ACCOUNT_BODIES_MAX = 30;

const budget: BodyBudget = createBodyBudget({ bytesMax: BUDGET, accountBytesMax: ACCOUNT_BUDGET });
const shortBodies = createIncomingBodies(MS_MAX);
const longBodies = createIncomingBodies(60_000);
const shortLimit = serveBodies(shortBodies);
const longLimit = serveBodies(longBodies);
afterAll(async () => {
  await shortLimit.stop(true);
  await longLimit.stop(true);
});

/**
 * Serves a route that reads its body for the account and key of the path, and answers with its size or error.
 */
function serveBodies(incomingBodies: IncomingBodies): Server<undefined> {
  const parts = {
    bodyBudget: budget,
    incomingBodies,
    connectionIdle: createConnectionIdle((request, seconds) => server.timeout(request, seconds), 10),
  };
  const bounds = { keyBodiesMax: KEY_BODIES_MAX, accountBodiesMax: ACCOUNT_BODIES_MAX };
  const server = Bun.serve({
    port: 0,
    async fetch(request) {
      const [, accountId = "", keyId = ""] = new URL(request.url).pathname.split("/");
      const body = createBodyReader(request, parts);
      try {
        return new Response(String(bytesOf(await body.read({ accountId, keyId, ...bounds }))));
      } catch (thrown) {
        return new Response(thrown instanceof GatewayError ? thrown.kind : "fault");
      } finally {
        body.release();
      }
    },
  });
  return server;
}

/** Reserves announced bytes until one account, or all, have no more. Gives them back and returns their sum. */
function countAnnounceable(accounts: readonly string[]): number {
  const taken: string[] = [];
  for (const account of accounts) {
    while (longBodies.budget.tryTake(account, PIECE.length)) taken.push(account);
  }
  for (const account of taken) longBodies.budget.give(account, PIECE.length);
  return taken.length * PIECE.length;
}

const head = (framing: string, path = "/acme/laptop") =>
  `POST ${path} HTTP/1.1\r\nhost: localhost\r\n${framing}\r\n\r\n`;

/** Waits until all of the budget is free. */
async function untilAllGivenBack(): Promise<void> {
  for (const account of ["acme", "other"]) await until(() => isGivenBack(account));
}

function isGivenBack(account: string): boolean {
  try {
    budget.take(account, ACCOUNT_BUDGET);
  } catch {
    return false;
  }
  budget.give(account, ACCOUNT_BUDGET);
  return true;
}

/** Sends a body and returns the answer. */
async function send(path: string, body: string | ReadableStream): Promise<string> {
  return (await fetch(new URL(path, longLimit.url), { method: "POST", body })).text();
}

/** Sends the beginning of a body, pauses longer than the limit, and sends the rest at once. */
async function* tooSlow(framing: string, piece: string): AsyncGenerator<string> {
  yield head(framing) + piece;
  await Bun.sleep(MS_MAX + 100);
  for (let sent = 0; sent < 10; sent++) yield piece;
  await Bun.sleep(50);
}

const PIECE = "x".repeat(0x8000);

describe("a body that does not arrive in time", () => {
  test.each([
    ["announced", `content-length: ${100 * PIECE.length}`, PIECE],
    ["announced and small", "content-length: 1000", "x"],
    ["chunked", "transfer-encoding: chunked", `8000\r\n${PIECE}\r\n`],
  ])("is rejected when it is %s, and its further bytes do not count", async (_name, framing, piece) => {
    const answer = await sendRaw(shortLimit.url.origin, tooSlow(framing, piece));
    expect(answer.body).toBe("body_too_slow");
    await untilAllGivenBack();
  });
});

describe("the budget of bodies in flight", () => {
  test.each([
    ["large", BUDGET / 2],
    ["small", 64 * 1024],
  ])("is not used up by %s bodies that are announced and never sent", async (_name, announced) => {
    await using waiting = await openSilent(KEY_BODIES_MAX, head(`content-length: ${announced}`));
    for (const account of ["other", "acme"]) {
      const large = "x".repeat(ACCOUNT_BUDGET - 1000);
      expect(await send(`/${account}/phone`, large)).toBe(String(large.length));
    }
    expect(waiting.answers).toEqual([]);
    await untilAllGivenBack();
  });

  test("rejects what does not fit, with either framing, and is free afterwards", async () => {
    const body = "x".repeat(ACCOUNT_BUDGET + 1);
    for (const sent of [body, new Blob([body]).stream()]) {
      expect(await send("/acme/laptop", sent)).toBe("too_many_body_bytes");
      await untilAllGivenBack();
    }
  });

  test("has a share per account, which leaves the rest to other accounts", async () => {
    budget.take("acme", ACCOUNT_BUDGET);
    expect(await send("/acme/laptop", "x")).toBe("too_many_body_bytes");
    expect(await send("/acme/laptop", "x".repeat(100_000))).toBe("too_many_body_bytes");
    const whole = "x".repeat(ACCOUNT_BUDGET);
    expect(await send("/other/laptop", whole)).toBe(String(whole.length));
    budget.give("acme", ACCOUNT_BUDGET);
    await untilAllGivenBack();
  });

  test("gives an account a quarter of the total, and at least the size of one body", () => {
    const limit = 30 * 1024 * 1024;
    for (const [bytesMax, share] of [
      [8 * limit, 2 * limit],
      [2 * limit, limit],
      [1000, 1000],
    ] as const) {
      const fresh = createBodyBudget({ bytesMax });
      expect(() => fresh.take("acme", share + 1)).toThrow(GatewayError);
      fresh.take("acme", share);
      if (share < bytesMax) fresh.take("other", share);
    }
  });

  test("is free again after clients disconnect in the middle of a body", async () => {
    {
      const half = `${head("transfer-encoding: chunked")}8000\r\n${PIECE}\r\n`;
      await using _ = await openSilent(10, half);
      // Time for the pieces to be read.
      await Bun.sleep(30);
    }
    await untilAllGivenBack();
  });
});

describe("the announced bytes of bodies in transit", () => {
  const ACCOUNT_ANNOUNCED = 8 * 1024 * 1024;

  test("are bounded per account, and a body beyond them is received all the same", async () => {
    {
      await using _ = await openSilent(KEY_BODIES_MAX, head(`content-length: ${ACCOUNT_BUDGET}`));
      expect(countAnnounceable(["acme"])).toBe(0);
      expect(countAnnounceable(["other"])).toBe(ACCOUNT_ANNOUNCED);
      expect(await send("/acme/phone", "x".repeat(300_000))).toBe("300000");
    }
    await until(() => countAnnounceable(["acme"]) === ACCOUNT_ANNOUNCED);
  });

  test("are bounded over all accounts", () => {
    const accounts = Array.from({ length: 10 }, (_, index) => `account ${index}`);
    expect(countAnnounceable(accounts)).toBe(4 * ACCOUNT_ANNOUNCED);
  });

  test("are free once a body has arrived, was refused, or came too late", async () => {
    expect(await send("/acme/laptop", "x".repeat(300_000))).toBe("300000");
    expect(await send("/acme/laptop", "x".repeat(ACCOUNT_BUDGET + 1))).toBe("too_many_body_bytes");
    await until(() => countAnnounceable(["acme"]) === ACCOUNT_ANNOUNCED);
    await sendRaw(shortLimit.url.origin, tooSlow("content-length: 1000000", PIECE));
    await until(() => shortBodies.budget.tryTake("acme", ACCOUNT_ANNOUNCED));
    shortBodies.budget.give("acme", ACCOUNT_ANNOUNCED);
  });
});

describe("bodies that arrive at once", () => {
  test("are limited per key before any byte of a further one is read", async () => {
    {
      await using _ = await openSilent(KEY_BODIES_MAX, head("content-length: 60000", "/acme/laptop"));
      for (const announced of [100, 1_000_000]) {
        const more = await sendRaw(longLimit.url.origin, [
          head(`content-length: ${announced}`, "/acme/laptop"),
        ]);
        expect(more.body).toBe("too_concurrent");
      }
      expect(await send("/acme/phone", "x")).toBe("1");
    }
    await untilSent("/acme/laptop");
  });

  test("are limited per account, over all its keys", async () => {
    {
      await using _ = await openSilent(KEY_BODIES_MAX, head("content-length: 60000", "/acme/laptop"));
      await using __ = await openSilent(10, head("content-length: 60000", "/acme/phone"));
      const more = await sendRaw(longLimit.url.origin, [head("content-length: 100", "/acme/tablet")]);
      expect(more.body).toBe("too_concurrent");
      expect(await send("/other/watch", "x")).toBe("1");
    }
    await untilSent("/acme/tablet");
  });

  test("are not limited when they arrive together with their headers", async () => {
    const many = Array.from({ length: 5 * KEY_BODIES_MAX }, () => send("/acme/laptop", "x".repeat(500)));
    expect(new Set(await Promise.all(many))).toEqual(new Set(["500"]));
  });

  test("are rejected after a grace period at shutdown, also those that begin later", async () => {
    const incoming = createIncomingBodies();
    const sender = { accountId: "a", keyId: "k", keyBodiesMax: 9, accountBodiesMax: 9 };
    const never = new Promise<Uint8Array>(() => {});
    let cuts = 0;
    const waiting = incoming.receive(
      sender,
      () => never,
      () => void cuts++,
    );
    incoming.close(10);
    expect(await waiting.catch(({ kind }) => kind)).toBe("shutting_down");
    expect(cuts).toBe(1);
    expect(() => incoming.receive(sender, () => never)).toThrow("shutting_down");
  });
});

/** Requests of connections that send no more. */
let silent = 0;
/** Waits until the server has no other request: one of before may end after its answer. */
const untilOthersEnded = () => until(() => longLimit.pendingRequests === silent);

/** Open connections that have sent some bytes. */
interface Silent extends AsyncDisposable {
  /** Everything received on any of them. */
  readonly answers: readonly string[];
}

/** Opens connections to the server with the long limit. Resolves when it has read from all of them. */
async function openSilent(count: number, bytes: string): Promise<Silent> {
  await untilOthersEnded();
  const answers: string[] = [];
  const sockets = Array.from({ length: count }, () => {
    const socket = connect({ host: longLimit.url.hostname, port: Number(longLimit.url.port) });
    socket.on("error", () => {});
    socket.on("data", (data) => answers.push(data.toString("latin1")));
    socket.write(bytes);
    return socket;
  });
  silent += count;
  await untilOthersEnded();
  return {
    answers,
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.resetAndDestroy();
      silent -= count;
      await untilOthersEnded();
    },
  };
}

/** Sends a small body until it is accepted. */
async function untilSent(path: string): Promise<void> {
  await until(async () => (await send(path, "x")) === "1");
}
