import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { connect, type Socket } from "node:net";
import { SURFACES, type Surface } from "../support/client.ts";
import { answer, type ScriptRequest } from "../support/script.ts";
import { EVENT_STREAM, frame, streamedLines } from "../support/scripted-answers.ts";
import { scriptedUpstream } from "../support/test-catalog.ts";
import { startTestGateway, type TestGateway } from "../support/test-gateway.ts";

/** Long compared with the pauses of a busy machine. */
const IDLE_MS = 2_000;

let shortLimit: TestGateway;
let longLimit: TestGateway;
beforeAll(async () => {
  shortLimit = await startWithTotal(8_000);
  // For an answer that is read to its end.
  longLimit = await startWithTotal(120_000);
});
beforeEach(() => {
  shortLimit.upstream.reset();
  longLimit.upstream.reset();
});
afterAll(async () => {
  await shortLimit.stop();
  await longLimit.stop();
});

function startWithTotal(totalMs: number): Promise<TestGateway> {
  const timeouts = { connectMs: 60_000, firstOutputMs: 60_000, idleMs: IDLE_MS, totalMs };
  return startTestGateway({
    upstreams: ({ openaiUrl, anthropicUrl }) => [
      scriptedUpstream("scripted-openai", "openai", { baseUrl: openaiUrl, timeouts }),
      scriptedUpstream("scripted-anthropic", "anthropic", { baseUrl: anthropicUrl, timeouts }),
    ],
  });
}

/** More than all socket buffers between upstream and client. */
const LARGE_CHARS = 24 * 1024 * 1024;

/** Streams an answer of LARGE_CHARS characters, in words of 64 KiB. */
function streamLarge(gateway: TestGateway, surface: Surface): void {
  const word = ` ${"y".repeat(64 * 1024 - 1)}`;
  const modelOutput = { text: word.repeat(LARGE_CHARS / word.length), usage: { input: 11, output: 7 } };
  gateway.upstream.on(surface.model, (request: ScriptRequest) => {
    const body = frame(request.protocol, streamedLines(request, modelOutput));
    return answer({ headers: EVENT_STREAM, body, pieces: [256 * 1024] })(request);
  });
}

/** Asks for a stream and reads nothing until the socket is resumed. */
function requestWithoutReading(gateway: TestGateway, surface: Surface): Socket {
  const { hostname, port } = new URL(gateway.url);
  const socket = connect({ host: hostname, port: Number(port) });
  socket.on("error", () => {});
  const body = JSON.stringify(surface.body({ stream: true }));
  socket.pause();
  socket.write(
    `POST ${surface.path} HTTP/1.1\r\nhost: localhost\r\nx-api-key: ${gateway.secret}\r\ncontent-length: ${body.length}\r\n\r\n${body}`,
  );
  return socket;
}

describe.each(SURFACES)("a client that does not read, on $path,", (surface) => {
  test("pauses the upstream, and is settled and disconnected by the total timeout", async () => {
    const gateway = shortLimit;
    streamLarge(gateway, surface);
    const socket = requestWithoutReading(gateway, surface);
    await gateway.upstream.waitForSeen(1);
    await Bun.sleep(1.5 * IDLE_MS);
    // Neither ended by the idle timeout nor read completely into memory.
    expect(gateway.upstream.seen[0]?.disconnectedAtMs).toBeUndefined();
    expect((await gateway.balances()).held).toBeGreaterThan(0n);
    await gateway.upstream.seen[0]?.over;
    expect(gateway.upstream.seen[0]?.disconnectedAtMs).toBeNumber();
    await gateway.nothingIsHeld();
    const id =
      gateway.log
        .text()
        .match(/"request":"([^"]+)"/g)
        ?.at(-1)
        ?.slice(11, -1) ?? "";
    expect((await gateway.receiptOf(id)).outcome).toMatchObject({
      outcome: "upstream_timeout",
      source: "estimated",
    });
    socket.destroy();
  });

  test("for longer than the idle timeout gets the whole answer later", async () => {
    const gateway = longLimit;
    streamLarge(gateway, surface);
    const socket = requestWithoutReading(gateway, surface);
    await gateway.upstream.waitForSeen(1);
    await Bun.sleep(1.5 * IDLE_MS);
    let tail = "";
    let bytes = 0;
    const { promise: ended, resolve } = Promise.withResolvers<void>();
    socket.on("data", (chunk) => {
      bytes += chunk.length;
      tail = (tail + chunk.toString("latin1")).slice(-300);
      if (tail.endsWith("\r\n0\r\n\r\n")) resolve();
    });
    socket.on("close", () => resolve());
    socket.resume();
    await ended;
    expect(tail).toMatch(/\[DONE\]|message_stop/);
    expect(bytes).toBeGreaterThan(LARGE_CHARS);
    await gateway.nothingIsHeld();
    socket.destroy();
  });
});
