import { expect, test } from "bun:test";
import { connect, type Socket } from "node:net";
import { gatewayForTests } from "../support/gateway-for-tests.ts";
import { answer, type ScriptRequest } from "../support/script.ts";
import { EVENT_STREAM, frame, streamedLines } from "../support/scripted-answers.ts";
import { scriptedModel, scriptedUpstream } from "../support/test-catalog.ts";
import { until } from "../support/until.ts";

/** A busy machine must not reach it between two pieces. */
const IDLE_MS = 2_000;
/** So much longer that a busy machine makes the answer, and the idle timeout would be over, before it. */
const TOTAL_MS = 9_000;
const timeouts = { connectMs: 60_000, firstOutputMs: 60_000, idleMs: IDLE_MS, totalMs: TOTAL_MS };
const gateway = gatewayForTests({
  models: [scriptedModel("chat", "openai"), scriptedModel("claude", "anthropic")],
  upstreams: ({ openaiUrl }) => [
    scriptedUpstream("scripted-openai", "openai", { baseUrl: openaiUrl, timeouts }),
    scriptedUpstream("scripted-anthropic", "openai", { baseUrl: openaiUrl }),
  ],
});
/** More than all socket buffers between upstream and client. */
const LARGE_CHARS = 12 * 1024 * 1024;
/** More than they can ever grow to. */
const HUGE_CHARS = 4 * LARGE_CHARS;

/** Encodes a short text as one masked frame of a client; `first` has its kind, and whether another follows. */
function maskedFrame(text: string, first = 0x81): Buffer {
  const payload = Buffer.from(text);
  const head = Buffer.from([first, 0x80 | 126, payload.length >> 8, payload.length & 0xff, 0, 0, 0, 0]);
  return Buffer.concat([head, payload]);
}

async function open(): Promise<Socket> {
  const { hostname, port } = new URL(gateway.url);
  const socket = connect({ host: hostname, port: Number(port) });
  socket.on("error", () => {});
  socket.write(
    `GET /v1/responses HTTP/1.1\r\nhost: localhost\r\nauthorization: Bearer ${gateway.secret}\r\n` +
      "connection: Upgrade\r\nupgrade: websocket\r\nsec-websocket-version: 13\r\n" +
      "sec-websocket-key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n",
  );
  await new Promise((resolve) => socket.once("data", resolve));
  return socket;
}

/** Asks for a response and reads nothing of it. */
async function askWithoutReading(model: string): Promise<Socket> {
  const socket = await open();
  socket.pause();
  const input = "x".repeat(200);
  socket.write(maskedFrame(JSON.stringify({ type: "response.create", model, input })));
  return socket;
}

/** Streams an answer of so many characters, in words of 64 KiB. */
function streamLarge(model: string, chars = LARGE_CHARS): void {
  const word = ` ${"y".repeat(64 * 1024 - 1)}`;
  const modelOutput = { text: word.repeat(chars / word.length), usage: { input: 11, output: 7 } };
  gateway.upstream.on(model, (request: ScriptRequest) => {
    const body = frame(request.protocol, streamedLines(request, modelOutput));
    return answer({ headers: EVENT_STREAM, body, pieces: [256 * 1024] })(request);
  });
}

const SHORT = "chat";
const LONG = "claude";

test("a client of a WebSocket that does not read pauses the upstream, and is ended by the total timeout", async () => {
  streamLarge(SHORT, HUGE_CHARS);
  const socket = await askWithoutReading(SHORT);
  await gateway.upstream.waitForSeen(1);
  let isOver = false;
  const over = gateway.upstream.seen[0]?.over.then(() => {
    isOver = true;
  });
  await Bun.sleep(1.25 * IDLE_MS);
  // Neither ended by the idle timeout nor read completely into memory.
  expect(isOver).toBe(false);
  await over;
  await gateway.nothingIsHeld();
  const findId = () => /"request":"([^"]+)"[^\n]*"socket":true/.exec(gateway.log.text())?.[1];
  await until(() => findId() !== undefined);
  expect((await gateway.receiptOf(findId() ?? "")).outcome).toMatchObject({ outcome: "upstream_timeout" });
  socket.destroy();
});

test("a client of a WebSocket that reads later gets the whole answer", async () => {
  streamLarge(LONG);
  const socket = await askWithoutReading(LONG);
  await gateway.upstream.waitForSeen(1);
  await Bun.sleep(200);
  let bytes = 0;
  let tail = "";
  const ended = new Promise<void>((resolve) => {
    socket.on("data", (chunk) => {
      bytes += chunk.length;
      tail = (tail + chunk.toString("latin1")).slice(-2_000);
      if (tail.includes('"total_tokens":18')) resolve();
    });
    socket.on("close", () => resolve());
  });
  socket.resume();
  await ended;
  expect(tail).toContain('"total_tokens":18');
  expect(bytes).toBeGreaterThan(LARGE_CHARS);
  await gateway.nothingIsHeld();
  socket.destroy();
});

test("a message in several frames is one event, also with a ping between them", async () => {
  const socket = await open();
  const text = JSON.stringify({ type: "response.create", model: "chat", input: "x".repeat(200) });
  const received = new Promise<string>((resolve) => {
    let all = "";
    socket.on("data", (chunk) => {
      all += chunk.toString("latin1");
      if (all.includes("response.completed")) resolve(all);
    });
  });
  socket.write(maskedFrame(text.slice(0, 130), 0x01));
  socket.write(Buffer.from([0x89, 0x80, 0, 0, 0, 0]));
  socket.write(maskedFrame(text.slice(130), 0x80));
  expect(await received).toContain('"status":"completed"');
  socket.destroy();
});
