import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { createServer, type Server, type Socket } from "node:net";
import { gzipSync } from "node:zlib";
import { CHAT, post } from "../support/client.ts";
import { expectError } from "../support/expect-error.ts";
import type { Script, Step } from "../support/script.ts";
import { answerWith } from "../support/scripted-answers.ts";
import { scriptedModel, scriptedRoute, scriptedUpstream } from "../support/test-catalog.ts";
import { startTestGateway, type TestGateway } from "../support/test-gateway.ts";

const MIB = 1024 * 1024;
/** The limits of the model "hasty". */
const HASTY = { connectMs: 5_000, firstOutputMs: 250, idleMs: 250, totalMs: 400 };
const MODELS = ["chat", "early", "hasty"];

let early: Server;
let gateway: TestGateway;
beforeAll(async () => {
  early = createServer(answerBeforeReading);
  const { promise: listening, resolve } = Promise.withResolvers<void>();
  early.listen(0, "127.0.0.1", () => resolve());
  await listening;
  gateway = await startTestGateway({
    models: MODELS.map((id) => scriptedModel(id, "openai", { routes: [scriptedRoute(id, id)] })),
    upstreams: ({ openaiUrl }) => [
      scriptedUpstream("chat", "openai", { baseUrl: openaiUrl }),
      scriptedUpstream("hasty", "openai", { baseUrl: openaiUrl, timeouts: HASTY }),
      scriptedUpstream("early", "openai", { baseUrl: urlOf(early) }),
    ],
  });
});
beforeEach(() => gateway.upstream.reset());
afterAll(async () => {
  await gateway.stop();
  early.close();
});

function urlOf(server: Server): string {
  const address = server.address();
  if (typeof address !== "object" || address === null) throw new Error("It does not listen");
  return `http://127.0.0.1:${address.port}`;
}

function wholeSaying(text: string): string {
  return JSON.stringify({
    choices: [{ index: 0, message: { role: "assistant", content: text }, finish_reason: "stop" }],
    usage: { prompt_tokens: 1, completion_tokens: 1 },
  });
}

function withLength(body: string, more = ""): string {
  return `HTTP/1.1 200 OK\r\n${more}content-length: ${body.length}\r\n\r\n${body}`;
}

function chunked(body: string, more = ""): string {
  return `HTTP/1.1 200 OK\r\n${more}transfer-encoding: chunked\r\n\r\n${body.length.toString(16)}\r\n${body}\r\n0\r\n\r\n`;
}

const MINE = wholeSaying("mine");
/** An unrequested answer. The next request on this connection must not get it. */
const SURPLUS = withLength(wholeSaying("surplus"));
const ZIPPED = gzipSync(MINE);

function* sends(...pieces: (string | Uint8Array)[]): Generator<Step> {
  for (const send of pieces) yield* [{ send }, { waitMs: 2 }];
}

/** Sends pieces, of which the gateway has read the last one when it closes the connection. */
function* sendsUntilClosed(...pieces: string[]): Generator<Step> {
  yield* sends(...pieces);
  yield { leave: "hang" };
}

const TOO_MUCH: readonly (readonly [name: string, script: Script])[] = [
  ["a second answer at once", () => sends(withLength(MINE) + SURPLUS)],
  ["a second answer a moment later", () => sendsUntilClosed(withLength(MINE), SURPLUS)],
  [
    "half a second answer now and half later",
    () => sendsUntilClosed(withLength(MINE) + SURPLUS.slice(0, 30), SURPLUS.slice(30)),
  ],
  ["a second answer after the last chunk", () => sends(chunked(MINE) + SURPLUS)],
  ["a second answer some time after the last chunk", () => sendsUntilClosed(chunked(MINE), SURPLUS)],
  ["a length beside chunks", () => sends(chunked(MINE, "content-length: 5\r\n") + SURPLUS)],
  ["two lengths", () => sends(withLength(MINE, "content-length: 5\r\n") + SURPLUS)],
  [
    "a length that is too short",
    () => sends(`HTTP/1.1 200 OK\r\ncontent-length: 5\r\n\r\n${MINE}${SURPLUS}`),
  ],
  ["a body with status 204", () => sends(`HTTP/1.1 204 OK\r\ncontent-length: 9\r\n\r\n${MINE}${SURPLUS}`)],
  ["a body with status 304", () => sends(`HTTP/1.1 304 OK\r\ncontent-length: 9\r\n\r\n${MINE}${SURPLUS}`)],
  [
    "an unrequested upgrade",
    () => sends(`HTTP/1.1 101 OK\r\nupgrade: x\r\nconnection: upgrade\r\n\r\n${SURPLUS}`),
  ],
  [
    "two answers after interim ones",
    () => sends(`HTTP/1.1 100 Continue\r\n\r\n${withLength(MINE)}HTTP/1.1 100 Continue\r\n\r\n${SURPLUS}`),
  ],
  [
    "a second answer after compressed bytes",
    () =>
      sends(
        `HTTP/1.1 200 OK\r\ncontent-encoding: gzip\r\ncontent-length: ${ZIPPED.length}\r\n\r\n`,
        Buffer.concat([ZIPPED, Buffer.from(SURPLUS)]),
      ),
  ],
];

describe("an upstream that sends surplus bytes on a kept-alive connection", () => {
  test.each(TOO_MUCH)("as %s does not affect the next request", async (_name, script) => {
    const next = answerWith({ text: "theirs", usage: { input: 1, output: 1 } });
    gateway.upstream.on("chat", script, next);
    const first = await (await post(gateway, CHAT)).text();
    expect(first).not.toContain("surplus");
    // Bytes that arrive while a request waits are its answer by the rules of HTTP.
    await gateway.upstream.seen[0]?.over;
    await Bun.sleep(10);
    for (let round = 0; round < 2; round++) {
      const response = await post(gateway, CHAT);
      expect(await response.json()).toMatchObject({ choices: [{ message: { content: "theirs" } }] });
    }
  });

  test("as an answer before it has read the request gets no further request on that connection", async () => {
    const prompt = "x".repeat(8 * MIB);
    const first = await post(gateway, CHAT, {
      model: "early",
      messages: [{ role: "user", content: prompt }],
    });
    expect(await first.json()).toMatchObject({
      choices: [{ message: { content: "connection 1, request 1" } }],
    });
    const second = await post(gateway, CHAT, { model: "early" });
    expect(await second.json()).toMatchObject({
      choices: [{ message: { content: "connection 2, request 1" } }],
    });
  });
});

let connections = 0;

/** Answers after the first bytes, and reads no more. */
function answerBeforeReading(socket: Socket): void {
  const connection = ++connections;
  socket.on("error", () => {});
  socket.once("data", () => {
    socket.pause();
    socket.write(withLength(wholeSaying(`connection ${connection}, request 1`)));
  });
}

describe("an upstream whose response head does not end", () => {
  /** Sends a piece again and again, up to 200 MiB. */
  function* forever(piece: string, count: { bytes: number }): Generator<Step> {
    for (; count.bytes < 200 * MIB; count.bytes += piece.length) yield { send: piece };
  }

  test.each([
    ["headers", "HTTP/1.1 200 OK\r\n", `x-padding: ${"p".repeat(8_000)}\r\n`],
    ["one header", "HTTP/1.1 200 OK\r\nx-padding: ", "p".repeat(8_000)],
    ["a status line", "HTTP/1.1 200 ", "p".repeat(8_000)],
  ])("but consists of %s is cut off after a few megabytes", async (_name, start, piece) => {
    const count = { bytes: 0 };
    gateway.upstream.on("chat", function* () {
      yield { send: start };
      yield* forever(piece, count);
    });
    await expectError(await post(gateway, CHAT), CHAT, "upstream_unavailable");
    expect(count.bytes).toBeLessThan(32 * MIB);
  });

  test.each([
    ["interim answers", "", "HTTP/1.1 103 Early Hints\r\nlink: </x>\r\n\r\n", "upstream_timeout"],
    ["a header that drips", "HTTP/1.1 200 OK\r\nx-padding: ", "p", "upstream_timeout"],
    [
      "a chunk's extension",
      "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n5;",
      "pppppppp",
      "upstream_timeout",
    ],
  ] as const)("but consists of %s is cut off by a timeout", async (_name, start, piece, cause) => {
    gateway.upstream.on("hasty", function* () {
      yield { send: start };
      for (;;) yield* [{ send: piece }, { waitMs: 5 }];
    });
    await expectError(await post(gateway, CHAT, { model: "hasty", stream: true }), CHAT, cause);
    await gateway.upstream.seen[0]?.over;
    await gateway.nothingIsHeld();
  });
});
