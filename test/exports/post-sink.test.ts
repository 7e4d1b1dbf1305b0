import { afterEach, expect, test } from "bun:test";
import { createServer, type Server } from "node:net";
import { signBody } from "../../src/domain/signature.ts";
import { NO_USAGE } from "../../src/domain/usage.ts";
import { createHttpSink, createOtlpSink, printLogs } from "../../src/exports/post-sink.ts";
import type { Receipt } from "../../src/ledger/records.ts";
import { batchOf, namesIn } from "./lines.ts";

const NEVER = new AbortController().signal;
const BASE = { kind: "http", headers: {}, gzip: false, timeoutMs: 60_000, secret: undefined } as const;

let closers: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closers) await close();
  closers = [];
});

interface Received {
  readonly path: string;
  readonly headers: Headers;
  readonly bytes: Uint8Array<ArrayBuffer>;
}

/** A receiver that answers every call with the response that `answer` makes. */
function receive(answer: () => Response = () => new Response("ok")) {
  const calls: Received[] = [];
  const server = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    async fetch(request) {
      const bytes = new Uint8Array(await request.arrayBuffer());
      calls.push({ path: new URL(request.url).pathname, headers: request.headers, bytes });
      return answer();
    },
  });
  closers.push(() => server.stop(true));
  return { calls, url: `http://127.0.0.1:${server.port}/lines` };
}

/** A server that writes these bytes to each connection and keeps it open. */
async function writeBytes(bytes: string): Promise<string> {
  const server: Server = createServer((socket) => {
    socket.on("error", () => undefined);
    socket.once("data", () => socket.write(bytes));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  closers.push(() => server.close());
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("The server has no port");
  return `http://127.0.0.1:${address.port}/`;
}

test("a batch is posted as lines of JSON, with the configured headers and a signature of its bytes", async () => {
  const { calls, url } = receive();
  const nowMs = Date.UTC(2026, 5, 1);
  const secret = "a-secret-of-an-export";
  for (const gzip of [false, true]) {
    const sink = createHttpSink(
      { ...BASE, url, secret, gzip, headers: { authorization: "Bearer t" } },
      () => nowMs,
    );
    expect(await sink.deliver(batchOf("a", "b"), NEVER)).toBe(0);
  }
  for (const [index, { headers, bytes }] of calls.entries()) {
    expect(headers.get("content-type")).toBe("application/x-ndjson");
    expect(headers.get("authorization")).toBe("Bearer t");
    expect(headers.get("tollgate-delivery")).toBe("a,b");
    expect(headers.get("tollgate-signature")).toBe(signBody(secret, bytes, nowMs));
    expect(headers.get("content-encoding")).toBe(index === 1 ? "gzip" : null);
    const text = new TextDecoder().decode(index === 1 ? Bun.gunzipSync(bytes) : bytes);
    expect(namesIn(text)).toEqual(["a", "b"]);
  }
  expect(calls).toHaveLength(2);
});

test.each([
  [500, {}, "status 500"],
  [404, {}, "status 404"],
  [302, { location: "http://127.0.0.1:1/elsewhere" }, "status 302"],
])("a receiver that answers %i has not taken the batch", async (status, headers, problem) => {
  const { calls, url } = receive(() => new Response("private text", { status, headers }));
  await expect(createHttpSink({ ...BASE, url }).deliver(batchOf("a"), NEVER)).rejects.toThrow(problem);
  await createHttpSink({ ...BASE, url })
    .deliver(batchOf("a"), NEVER)
    .catch(() => undefined);
  expect(calls.map(({ path }) => path)).toEqual(["/lines", "/lines"]);
});

test("a receiver may ask for a pause, and for smaller batches", async () => {
  const slow = receive(() => new Response("", { status: 503, headers: { "retry-after": "7" } }));
  const small = receive(() => new Response("", { status: 413 }));
  const faults = await Promise.all(
    [slow.url, small.url].map((url) =>
      createHttpSink({ ...BASE, url })
        .deliver(batchOf("a"), NEVER)
        .catch((fault: unknown) => fault),
    ),
  );
  expect(faults).toMatchObject([
    { waitMs: 7_000, isTooLarge: false },
    { waitMs: 0, isTooLarge: true },
  ]);
});

test("a receiver that hangs, sends garbage or is not there has not taken the batch", async () => {
  const deliver = async (url: string, timeoutMs: number) =>
    createHttpSink({ ...BASE, url, timeoutMs }).deliver(batchOf("a"), NEVER);
  await expect(deliver(await writeBytes(""), 200)).rejects.toThrow("no answer in time");
  const garbage = deliver(await writeBytes("220 mail.example.com ESMTP\r\n\r\n"), 200);
  await expect(garbage).rejects.toThrow(/^(not reached: \w+|no answer in time)$/);
  await expect(deliver("http://127.0.0.1:1/", 60_000)).rejects.toThrow("not reached: ECONNREFUSED");
});

test("the status takes a batch, also when the rest of the answer never comes", async () => {
  const url = await writeBytes("HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\nbegin");
  expect(await createHttpSink({ ...BASE, url }).deliver(batchOf("a"), NEVER)).toBe(0);
});

test("a collector gets one log record per line, and rejected records are counted", async () => {
  const answers = [{}, { partialSuccess: { rejectedLogRecords: "1", errorMessage: "too old" } }];
  const { calls, url } = receive(() => Response.json(answers[calls.length - 1]));
  const sink = createOtlpSink({ ...BASE, url: url.replace("/lines", "/") });
  expect(await sink.deliver(batchOf("a", "b"), NEVER)).toBe(0);
  expect(await sink.deliver(batchOf("c"), NEVER)).toBe(1);
  expect(calls.map(({ path }) => path)).toEqual(["/v1/logs", "/v1/logs"]);
  const { resourceLogs } = JSON.parse(new TextDecoder().decode(calls[0]?.bytes));
  const [{ logRecords }] = resourceLogs[0].scopeLogs;
  expect(logRecords).toHaveLength(2);
  expect(logRecords[0]).toMatchObject({
    timeUnixNano: `${Date.UTC(2026, 5, 1)}000000`,
    eventName: "tollgate.top_up",
    body: { stringValue: batchOf("a").lines[0]?.text },
  });
  expect(logRecords[0].attributes).toContainEqual({
    key: "tollgate.line.id",
    value: { stringValue: "acme/top_up/a" },
  });
});

test("a collector gets the charged input of all classes, and the configured model under no name of the answer", () => {
  const price = { input: 1n, output: 1n, cachedInput: 1n, cacheWrite: 1n, cacheWrite1h: 1n };
  const usage = { ...NO_USAGE, inputTokens: 10, cachedInputTokens: 90, cacheWriteTokens: 5, outputTokens: 7 };
  const route = { upstream: "up", upstreamModel: "gpt-x" };
  const outcome = { outcome: "ok", source: "reported", price, usage, attempts: [], ...route } as const;
  const receipt: Receipt = {
    holdId: "h",
    walletId: "acme",
    keyId: "k",
    scopes: [],
    state: "settled",
    late: false,
    granted: 5n,
    captured: 5n,
    refunded: 0n,
    createdAtMs: 0,
    resolvedAtMs: 1,
    request: { surface: "chat", model: "chat" },
    outcome,
    metadata: undefined,
  };
  const [line] = batchOf("a").lines;
  if (!line) throw new Error("There is no line");
  const logs = printLogs([{ ...line, entry: { ...line.entry, transfer: undefined, receipt } }]);
  const { attributes } = JSON.parse(logs).resourceLogs[0].scopeLogs[0].logRecords[0];
  expect(attributes).toContainEqual({ key: "gen_ai.usage.input_tokens", value: { intValue: "105" } });
  expect(attributes).toContainEqual({
    key: "gen_ai.usage.cache_read.input_tokens",
    value: { intValue: "90" },
  });
  expect(attributes).toContainEqual({ key: "tollgate.upstream_model", value: { stringValue: "gpt-x" } });
  expect(logs).not.toContain("gen_ai.response.model");
});
