import { describe, expect, test } from "bun:test";
import { connect } from "node:http2";
import { status } from "@grpc/grpc-js";
import type { StreamMutationsResponse__Output } from "../../src/gen/tollgate/ledger/v1/StreamMutationsResponse.ts";
import { LedgerError } from "../../src/ledger/ledger.ts";
import { LEDGER_SERVICE, ledgerService } from "../../src/ledger-grpc/service.ts";
import { detailsOf, type Stream, serve, stubLedger, TOKEN, tokenOf } from "./served.ts";

const BALANCES = { posted: 0n, held: 0n, available: 0n };
const create = (walletId: string) => ({ createWallet: { walletId } });

describe("StreamMutations", () => {
  test("answers every message by its sequence, an empty one too", async () => {
    await using served = await serve();
    const stream = listen(served.stream());
    for (const sequence of [7, 3, 900]) stream.write({ sequence, mutations: [create("w"), create("v")] });
    stream.write({ sequence: 5, mutations: [] });
    stream.end();
    expect(await stream.status).toBe("OK");
    const answers = stream.answers.map(({ sequence, results }) => [Number(sequence), results.length]);
    expect(answers.sort()).toEqual(
      [
        [3, 2],
        [5, 0],
        [7, 2],
        [900, 2],
      ].sort(),
    );
  });

  test("sends its metadata before the first message", async () => {
    await using served = await serve();
    const opened = Promise.withResolvers<void>();
    const stream = listen(served.stream());
    stream.call.on("metadata", () => opened.resolve());
    await opened.promise;
    stream.end();
    expect(await stream.status).toBe("OK");
  });

  test("passes mutations to the ledger in the order they were sent", async () => {
    const seen: string[] = [];
    const ledger = stubLedger({
      createWallet(walletId) {
        seen.push(walletId);
        return Promise.resolve(BALANCES);
      },
    });
    await using served = await serve({ ledger });
    const stream = listen(served.stream());
    const names = Array.from({ length: 100 }, (_, index) => `w${index}`);
    for (let at = 0; at < 100; at += 10) {
      stream.write({ sequence: at, mutations: names.slice(at, at + 10).map(create) });
    }
    stream.end();
    await stream.status;
    expect(seen).toEqual(names);
  });

  test("fails a bad mutation alone, with the details of a call", async () => {
    const ledger = stubLedger({ topUp: () => Promise.reject(new LedgerError("wallet_not_found")) });
    await using served = await serve({ ledger });
    const stream = listen(served.stream());
    stream.write({
      sequence: 1,
      mutations: [
        create("w"),
        { createTopUp: { walletId: "w", topUpId: "t", amountNanos: 1 } },
        { settleHold: {} },
        {},
      ],
    });
    stream.end();
    expect(await stream.status).toBe("OK");
    const results = stream.answers[0]?.results ?? [];
    expect(results.map((each) => each.status?.code ?? 0)).toEqual([0, 5, 3, 3]);
    const failed = results[1]?.status;
    expect(failed && detailsOf(failed).details).toMatchObject({
      ErrorInfo: { reason: "WALLET_NOT_FOUND", domain: "tollgate.ledger" },
      ResourceInfo: { resourceName: "wallets/w" },
    });
  });

  test("ends with INVALID_ARGUMENT after an undecodable message, once earlier ones are answered", async () => {
    const { ledger, asked, held } = pausedLedger();
    await using served = await serve({ ledger });
    const stream = listen(rawStream(served));
    stream.call.write(
      ledgerService.StreamMutations.requestSerialize({ sequence: 1, mutations: [create("w")] }) as never,
    );
    stream.call.write(Buffer.from([0xff, 0xff]) as never);
    await asked.promise;
    held.resolve(BALANCES);
    expect(await stream.status).toBe("INVALID_ARGUMENT");
    expect(stream.answers.map(({ sequence }) => Number(sequence))).toEqual([1]);
  });

  test("ends with INVALID_ARGUMENT after a message of more than 1,000 mutations", async () => {
    await using served = await serve();
    const stream = listen(served.stream());
    stream.write({ sequence: 1, mutations: Array.from({ length: 1_001 }, () => create("w")) });
    expect(await stream.status).toBe("INVALID_ARGUMENT");
  });

  test("stops reading while 16 messages are unanswered", async () => {
    const held = Promise.withResolvers<typeof BALANCES>();
    const sixteenth = Promise.withResolvers<void>();
    let asked = 0;
    const ledger = stubLedger({
      createWallet() {
        asked += 1;
        if (asked === 16) sixteenth.resolve();
        return held.promise;
      },
    });
    await using served = await serve({ ledger });
    const stream = listen(served.stream());
    for (let sequence = 1; sequence <= 100; sequence++) stream.write({ sequence, mutations: [create("w")] });
    stream.end();
    await sixteenth.promise;
    // A later call that is answered shows that the rest has arrived.
    await served.call("Ping", {});
    expect(asked).toBe(16);
    held.resolve(BALANCES);
    expect(await stream.status).toBe("OK");
    expect(stream.answers).toHaveLength(100);
  });

  test("stops reading while its answers are not read", async () => {
    let asked = 0;
    const ledger = stubLedger({
      createWallet() {
        asked += 1;
        return Promise.resolve({ posted: 2n ** 62n, held: 2n ** 62n, available: 2n ** 62n });
      },
    });
    await using served = await serve({ ledger });
    using stalled = openStalledStream(served.server.address);
    const message = ledgerService.StreamMutations.requestSerialize({
      sequence: 1,
      mutations: Array.from({ length: 1_000 }, () => create("w")),
    });
    // About 40 MB of answers: more than all buffers on the way hold.
    for (let written = 0; written < 1_000; written++) stalled.write(message);
    const settled = await untilSteady(() => asked, served);
    expect(settled).toBeLessThan(200_000);
  });

  test("of a vanished caller does not block the server", async () => {
    const { ledger, asked, held } = pausedLedger();
    await using served = await serve({ ledger });
    const stream = listen(served.stream());
    stream.write({ sequence: 1, mutations: [create("w")] });
    await asked.promise;
    stream.call.cancel();
    expect(await stream.status).toBe("CANCELLED");
    held.resolve(BALANCES);
    expect(await served.call("Ping", {})).toEqual({});
    expect(served.logged).toEqual([]);
  });

  test("answers its read messages when the server stops, then ends with UNAVAILABLE", async () => {
    const { ledger, asked, held } = pausedLedger();
    await using served = await serve({ ledger });
    const stream = listen(served.stream());
    stream.write({ sequence: 1, mutations: [create("w")] });
    await asked.promise;
    const stopped = served.server.stop();
    held.resolve(BALANCES);
    expect(await stream.status).toBe("UNAVAILABLE");
    expect(stream.answers).toHaveLength(1);
    await stopped;
  });
});

/** A ledger whose wallets are created when `held` resolves. `asked` resolves with the first call. */
function pausedLedger() {
  const held = Promise.withResolvers<typeof BALANCES>();
  const asked = Promise.withResolvers<void>();
  const ledger = stubLedger({
    createWallet() {
      asked.resolve();
      return held.promise;
    },
  });
  return { ledger, asked, held };
}

/** Collects the answers of a stream and its final status. */
function listen(call: Stream) {
  const answers: StreamMutationsResponse__Output[] = [];
  const ended = Promise.withResolvers<string>();
  call.on("data", (answer: StreamMutationsResponse__Output) => answers.push(answer));
  call.on("error", () => undefined);
  call.on("status", ({ code }) => ended.resolve(status[code] ?? String(code)));
  return {
    call,
    answers,
    status: ended.promise,
    write: (message: Parameters<Stream["write"]>[0]) => call.write(message),
    end: () => call.end(),
  };
}

/** Opens a stream whose messages are raw bytes. */
function rawStream({ client }: Awaited<ReturnType<typeof serve>>): Stream {
  const { responseDeserialize } = ledgerService.StreamMutations;
  // Safe because the test writes bytes only.
  return client.makeBidiStreamRequest(
    `/${LEDGER_SERVICE}/StreamMutations`,
    (bytes: unknown) => bytes as Buffer,
    responseDeserialize,
    tokenOf(TOKEN),
  ) as unknown as Stream;
}

/** Returns a count once it is equal before and after 100 calls. */
async function untilSteady(
  count: () => number,
  { call }: Awaited<ReturnType<typeof serve>>,
): Promise<number> {
  for (;;) {
    const before = count();
    for (let calls = 0; calls < 100; calls++) await call("Ping", {});
    if (before > 0 && count() === before) return before;
  }
}

/** Opens a stream over plain HTTP/2 whose answers are never read. */
function openStalledStream(address: string) {
  const session = connect(`http://${address}`);
  const stream = session.request({
    ":method": "POST",
    ":path": `/${LEDGER_SERVICE}/StreamMutations`,
    "content-type": "application/grpc",
    te: "trailers",
    authorization: `Bearer ${TOKEN}`,
  });
  for (const each of [session, stream]) each.on("error", () => undefined);
  return {
    write(message: Buffer) {
      const head = Buffer.alloc(5);
      head.writeUInt32BE(message.length, 1);
      stream.write(Buffer.concat([head, message]));
    },
    [Symbol.dispose]: () => session.destroy(),
  };
}
