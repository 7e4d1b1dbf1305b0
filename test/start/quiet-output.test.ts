import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { writeFileSync } from "node:fs";
import { connect, createServer, type Server } from "node:net";
import { join } from "node:path";
import { createServer as createTlsServer } from "node:tls";
import { gzipSync } from "node:zlib";
import { makeCertificates } from "../support/certificates.ts";
import { type ServedProcess, startServedProcess } from "../support/served-process.ts";
import { tempFolder } from "../support/temp-folder.ts";
import { createPaidKey } from "./paid-key.ts";

const HEAD = "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\n";
const CODINGS = ["gzip", "br", "deflate", "zstd"];

/** Response of the scripted host to each call, before it closes or resets the connection. */
let bytes = Buffer.alloc(0);
let isReset = false;
let plain: Server;
let distrusted: Server;
let gateway: ServedProcess;
let secret: string;

function portOf(server: Server): number {
  const address = server.address();
  return typeof address === "object" && address ? address.port : 0;
}

async function listen(server: Server): Promise<Server> {
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return server;
}

beforeAll(async () => {
  using made = makeCertificates();
  plain = await listen(
    createServer((socket) => {
      socket.on("error", () => {});
      socket.once("data", () =>
        socket.write(bytes, () => (isReset ? socket.resetAndDestroy() : socket.end())),
      );
    }),
  );
  distrusted = await listen(
    createTlsServer({ cert: made.server.cert, key: made.server.key }, (s) => s.end()),
  );
  distrusted.on("tlsClientError", () => {});
  const hosts = {
    chat: `http://127.0.0.1:${portOf(plain)}/v1`,
    distrusted: `https://127.0.0.1:${portOf(distrusted)}/v1`,
    no_tls: `https://127.0.0.1:${portOf(plain)}/v1`,
  };
  const folder = tempFolder();
  const upstreams = Object.entries(hosts).map(
    ([name, url]) =>
      `  ${name}: { protocol: openai, base_url: "${url}", api_key: k, circuit_failures: 100000 }\n`,
  );
  const models = Object.keys(hosts).map(
    (name) =>
      `  ${name}: { routes: [{ upstream: ${name}, model: m }], context_window: 1000, max_output_tokens: 9, price: { input: "1", output: "1" } }\n`,
  );
  const limits = "limits: { requests_per_minute: 100000 }\naccount_limits: { requests_per_minute: 100000 }\n";
  writeFileSync(
    join(folder, "tollgate.yaml"),
    `upstreams:\n${upstreams.join("")}models:\n${models.join("")}${limits}`,
  );
  secret = await createPaidKey(folder);
  const environment = { METRICS_LISTEN: "127.0.0.1:0" };
  gateway = await startServedProcess({ folder, environment });
});
afterAll(async () => {
  gateway?.signal("SIGKILL");
  await gateway?.exitCode;
  plain?.close();
  distrusted?.close();
});

async function ask(model: string, stream = false): Promise<number> {
  const answer = await fetch(`${gateway.url}/v1/chat/completions`, {
    method: "POST",
    headers: { authorization: `Bearer ${secret}` },
    body: JSON.stringify({ model, stream, messages: [{ role: "user", content: "x" }] }),
  });
  await answer.text();
  return answer.status;
}

/** Expects an empty stderr, and only lines of JSON on stdout. */
function expectQuiet(): void {
  expect(gateway.stderr()).toBe("");
  const lines = gateway.stdout().split("\n").slice(0, -1);
  for (const line of lines) expect(() => JSON.parse(line)).not.toThrow();
}

const ANSWERS: [string, string | Buffer][] = [
  ...CODINGS.map((name): [string, string] => [
    `a body that is not ${name}`,
    `${HEAD}content-encoding: ${name}\r\ncontent-length: 30\r\n\r\n${"z".repeat(30)}`,
  ]),
  [
    "gzip that is cut",
    Buffer.concat([
      Buffer.from(`${HEAD}content-encoding: gzip\r\n\r\n`),
      gzipSync("x".repeat(10_000)).subarray(0, 20),
    ]),
  ],
  ["no bytes at all", ""],
  ["no HTTP", "\0\x01\x02garbage\r\n\r\n"],
  ["HTTP/2", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"],
  ["a status without a number", "HTTP/1.1 abc OK\r\n\r\n"],
  [
    "the status 999 and an encoding",
    "HTTP/1.1 999 X\r\ncontent-encoding: gzip\r\ncontent-length: 1\r\n\r\nx",
  ],
  ["the status 204 and an encoding", "HTTP/1.1 204 X\r\ncontent-encoding: gzip\r\n\r\n"],
  ["a switch of protocols", "HTTP/1.1 101 X\r\nupgrade: x\r\nconnection: upgrade\r\n\r\nzzz"],
  ["a broken chunk", `${HEAD}transfer-encoding: chunked\r\n\r\nzz\r\nabc`],
  ["a header without a colon", "HTTP/1.1 200 OK\r\nbad header\r\n\r\n"],
  ["a NUL in a header", "HTTP/1.1 200 OK\r\nx-y: a\0b\r\ncontent-length: 0\r\n\r\n"],
  ["headers of 300 KB", `HTTP/1.1 200 OK\r\nx: ${"y".repeat(300_000)}\r\n\r\n`],
  ["a redirect to nowhere", "HTTP/1.1 302 X\r\nlocation: http://[bad\r\ncontent-length: 0\r\n\r\n"],
  ["two lengths", "HTTP/1.1 200 OK\r\ncontent-length: 5\r\ncontent-length: 9\r\n\r\nabcde"],
];

describe("a gateway prints only lines of JSON", () => {
  test.each(ANSWERS)("when an upstream responds with %s", async (_, answer) => {
    bytes = Buffer.from(answer);
    for (const reset of [false, true]) {
      isReset = reset;
      for (const stream of [false, true]) expect(await ask("chat", stream)).toBeGreaterThanOrEqual(400);
    }
    expectQuiet();
  });

  test.each(["distrusted", "no_tls"])("when TLS with an upstream fails: %s", async (model) => {
    bytes = Buffer.from("HTTP/1.1 200 OK\r\n\r\n");
    expect(await ask(model)).toBe(502);
    expectQuiet();
  });

  test("when clients send invalid HTTP to its ports, and when it ends", async () => {
    const metrics = /"metrics":"[^"]*:(\d+)"/.exec(gateway.stdout())?.[1];
    const ports = [Number(new URL(gateway.url).port), Number(metrics)];
    const sent = [
      "\0\x01\x02",
      "GET / HTTP/9.9\r\n\r\n",
      "\x16\x03\x01\x02\0\x01\0\x01",
      "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
      "POST /v1/messages HTTP/1.1\r\nhost: x\r\ntransfer-encoding: chunked\r\n\r\nzz\r\n",
      "GET http://[::bad/ HTTP/1.1\r\nhost: x\r\n\r\n",
      `GET /${"x".repeat(100_000)} HTTP/1.1\r\nhost: x\r\n\r\n`,
    ];
    for (const port of ports) for (const text of sent) await sendAndReset(port, text);
    gateway.signal("SIGTERM");
    expect(await gateway.exitCode).toBe(0);
    expectQuiet();
  });

  test("when the runtime warns, and when a rejected promise is not handled", () => {
    const child = Bun.spawnSync([process.execPath, join(import.meta.dir, "warning-child.ts")]);
    expect(child.stderr.toString()).toBe("");
    const lines = child.stdout.toString().trim().split("\n");
    const logged = lines.map((line): unknown => JSON.parse(line).msg);
    expect(logged.toSorted()).toEqual(["runtime warning", "runtime warning", "stray fault"]);
    expect(lines.join()).not.toContain("canary");
  });
});

/** Sends a text and resets the connection. Resolves when it is closed. */
function sendAndReset(port: number, text: string): Promise<void> {
  return new Promise((resolve) => {
    const socket = connect(port, "127.0.0.1", () => {
      socket.write(Buffer.from(text, "latin1"));
      setTimeout(() => socket.resetAndDestroy(), 20);
    });
    socket.on("error", () => {});
    socket.on("data", () => {});
    socket.on("close", () => resolve());
  });
}
