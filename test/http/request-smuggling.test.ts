import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { freePort } from "../support/free-port.ts";
import { gatewayForTests } from "../support/gateway-for-tests.ts";
import { until } from "../support/until.ts";

const gateway = gatewayForTests();
let attacker: string;
let victim: string;
beforeAll(async () => {
  attacker = (await gateway.newKey({})).secret;
  victim = (await gateway.newKey({})).secret;
});

/** A request hidden in the body of another one. */
const hidden = () => `GET /v1/key HTTP/1.1\r\nhost: gateway.example\r\nx-api-key: ${attacker}\r\n\r\n`;

/** A request whose end two readers may see in different places, with the hidden request behind one of them. */
function probe(framing: string, body: () => string) {
  return () =>
    `POST /v1/nothing HTTP/1.1\r\nhost: gateway.example\r\nx-api-key: ${attacker}\r\n${framing}\r\n\r\n${body()}`;
}

const chunkThenHidden = () => `0\r\n\r\n${hidden()}`;
const PROBES: readonly (readonly [name: string, request: () => string])[] = [
  [
    "content-length beside chunked",
    probe("content-length: 4\r\ntransfer-encoding: chunked", chunkThenHidden),
  ],
  [
    "chunked beside content-length",
    probe("transfer-encoding: chunked\r\ncontent-length: 4", chunkThenHidden),
  ],
  ["two lengths", probe("content-length: 0\r\ncontent-length: 5", hidden)],
  ["a list of lengths", probe("content-length: 0, 5", hidden)],
  ["a length with a sign", probe("content-length: +0", hidden)],
  ["a negative length", probe("content-length: -1", hidden)],
  ["a hexadecimal length", probe("content-length: 0x0", hidden)],
  ["an unknown coding", probe("transfer-encoding: xchunked\r\ncontent-length: 4", chunkThenHidden)],
  ["chunked that is not last", probe("transfer-encoding: chunked, gzip", chunkThenHidden)],
  ["a blank before the colon", probe("transfer-encoding : chunked\r\ncontent-length: 4", chunkThenHidden)],
  ["a folded header", probe("transfer-encoding:\r\n chunked\r\ncontent-length: 4", chunkThenHidden)],
  ["a control character", probe("transfer-encoding: \vchunked\r\ncontent-length: 4", chunkThenHidden)],
  ["a chunk size with a sign", probe("transfer-encoding: chunked", () => `+0\r\n\r\n${hidden()}`)],
  ["a chunk size with 0x", probe("transfer-encoding: chunked", () => `0x0\r\n\r\n${hidden()}`)],
  [
    "a chunk size that overflows",
    probe("transfer-encoding: chunked", () => `${"f".repeat(17)}\r\n${hidden()}`),
  ],
];

/** Sends bytes and returns all that is received until the connection ends or is silent after an answer. */
async function exchange(port: number, text: string): Promise<string> {
  const socket = connect({ host: "127.0.0.1", port });
  let received = "";
  let isClosed = false;
  socket.on("data", (bytes) => (received += bytes.toString("latin1")));
  socket.on("error", () => undefined);
  socket.on("close", () => (isClosed = true));
  socket.write(text, "latin1");
  await until(() => isClosed || /^HTTP\/1\.1 (?!100)/m.test(received));
  // The hidden request would be answered next.
  for (let waited = 0; waited < 5 && !isClosed; waited++) await Bun.sleep(20);
  socket.destroy();
  return received;
}

function portOf(url: string): number {
  return Number(new URL(url).port);
}

async function keyIdOf(url: string, secret: string): Promise<unknown> {
  const response = await fetch(`${url}/v1/key`, { headers: { "x-api-key": secret } });
  return ((await response.json()) as { id: unknown }).id;
}

describe("a request with an ambiguous end", () => {
  test.each(PROBES)("%s is refused, and nothing behind it is answered", async (_, request) => {
    const received = await exchange(portOf(gateway.url), request());
    const [first, ...later] = [...received.matchAll(/HTTP\/1\.1 (\d+)/g)].map(([, status]) => status);
    expect(["400", "404", "413", "501", "505"]).toContain(first ?? "");
    // A chunk that is wrong is noticed after the path was answered.
    expect(later.filter((status) => status !== "400")).toEqual([]);
    expect(received).not.toContain("wallet");
  });
});

const haproxy = Bun.which("haproxy", { PATH: `${process.env.PATH}:/usr/sbin:/usr/local/sbin` });

describe.skipIf(!haproxy)("behind haproxy, a request with an ambiguous end", () => {
  let url: string;
  let proxy: Bun.Subprocess;
  const folder = mkdtempSync(join(tmpdir(), "haproxy-"));
  beforeAll(async () => {
    const port = freePort();
    url = `http://127.0.0.1:${port}`;
    const config = join(folder, "haproxy.cfg");
    writeFileSync(config, configure(port, portOf(gateway.url)));
    proxy = Bun.spawn([haproxy ?? "", "-db", "-f", config], { stdout: "ignore", stderr: "ignore" });
    await until(() =>
      fetch(`${url}/healthz`).then(
        ({ ok }) => ok,
        () => false,
      ),
    );
  });
  afterAll(async () => {
    proxy?.kill("SIGKILL");
    await proxy?.exited;
    rmSync(folder, { recursive: true });
  });

  test.each(PROBES)("%s never gives a caller the answer of another", async (_, request) => {
    const own = await keyIdOf(gateway.url, victim);
    await exchange(portOf(url), request());
    const answers = Array.from({ length: 4 }, () => keyIdOf(url, victim));
    expect(new Set(await Promise.all(answers))).toEqual(new Set([own]));
  });
});

/** Connections to the gateway are kept and shared by all callers. */
function configure(port: number, gatewayPort: number): string {
  return `
global
  maxconn 64
defaults
  mode http
  timeout connect 5s
  timeout client 30s
  timeout server 30s
  option http-keep-alive
  http-reuse always
frontend front
  bind 127.0.0.1:${port}
  default_backend back
backend back
  server gateway 127.0.0.1:${gatewayPort} maxconn 2
`;
}
