import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { connect, type Socket } from "node:net";
import { join } from "node:path";
import { platform } from "../../src/platform.ts";
import { CHAT } from "../support/client.ts";
import { requireNode, requirePip } from "../support/installed-programs.ts";
import { type RawAnswer, sendRaw } from "../support/raw-client.ts";
import { runProgram } from "../support/run-program.ts";
import { tempFolder } from "../support/temp-folder.ts";
import { startTestGateway, type TestGateway } from "../support/test-gateway.ts";
import { until } from "../support/until.ts";

const MIB = 1024 * 1024;
/** More than the socket buffers between client and gateway, and below the limit of a body. */
const LARGE = 20 * MIB;
const TOO_LARGE = 40 * MIB;

let gateway: TestGateway;
let folder: string;
/** A key that may send one body at a time and has one pending. */
let busy: string;
let silent: Socket;
beforeAll(async () => {
  gateway = await startTestGateway();
  busy = (await gateway.newKey({ limits: { concurrentRequests: 1 } })).secret;
  silent = openSilent(busy);
  folder = tempFolder();
  for (const bytes of [LARGE, TOO_LARGE]) await Bun.write(fileOf(bytes), Buffer.alloc(bytes, "x"));
});
beforeEach(keepBusy);
afterAll(async () => {
  silent.destroy();
  await gateway.stop();
});

/** The path of a file of this size. */
function fileOf(bytes: number): string {
  return join(folder, String(bytes));
}

function openSilent(secret: string): Socket {
  const { hostname, port } = new URL(gateway.url);
  const socket = connect({ host: hostname, port: Number(port) });
  const head = `POST ${CHAT.path} HTTP/1.1\r\nhost: localhost\r\nx-api-key: ${secret}\r\n`;
  socket.write(`${head}content-length: 9\r\n\r\n`);
  return socket;
}

/** Keeps a body of the busy key on its way: on a slow machine, the tests outlast the time that one may take. */
async function keepBusy(): Promise<void> {
  const options = { method: "POST", headers: { "x-api-key": busy }, body: "x" };
  const isBusy = async () => (await fetch(`${gateway.url}${CHAT.path}`, options)).status === 429;
  if (await isBusy()) return;
  silent.destroy();
  silent = openSilent(busy);
  await until(isBusy);
}

/** Each program sends the file of its fourth argument before it reads the response. */
const NODE = `
  const [url, path, headers, file] = process.argv.slice(1);
  const body = require("fs").readFileSync(file);
  const options = { method: "POST", headers: { ...JSON.parse(headers), "content-length": body.length } };
  const request = require("http").request(url + path, options, async (response) => {
    let text = "";
    for await (const chunk of response) text += chunk;
    console.log(response.statusCode, text);
  });
  request.end(body);
`;
const PYTHON = `
import http.client, json, sys
url, path, headers, file = sys.argv[1:]
connection = http.client.HTTPConnection(url.removeprefix("http://"), timeout=30)
connection.request("POST", path, body=open(file, "rb").read(), headers=json.loads(headers))
response = connection.getresponse()
print(response.status, response.read().decode())
`;

interface Refusal {
  readonly name: string;
  readonly path: string;
  readonly headers: () => Readonly<Record<string, string>>;
  readonly status: number;
  readonly code: string;
  /** Size of the body. Default 20 MiB. */
  readonly bytes?: number;
}

const REFUSALS: readonly Refusal[] = [
  {
    name: "no key",
    path: CHAT.path,
    headers: () => ({}),
    status: 401,
    code: "invalid_api_key",
  },
  {
    name: "too large a body",
    path: CHAT.path,
    headers: () => ({ "x-api-key": gateway.secret }),
    status: 413,
    code: "request_too_large",
    bytes: TOO_LARGE,
  },
  {
    name: "a content-encoding",
    path: CHAT.path,
    headers: () => ({ "x-api-key": gateway.secret, "content-encoding": "gzip" }),
    status: 400,
    code: "invalid_request",
  },
  {
    name: "too many bodies on their way",
    path: CHAT.path,
    headers: () => ({ "x-api-key": busy }),
    status: 429,
    code: "concurrency_exceeded",
  },
  { name: "no route", path: "/nothing", headers: () => ({}), status: 404, code: "model_not_found" },
  { name: "no such method", path: "/v1/models", headers: () => ({}), status: 404, code: "model_not_found" },
  {
    name: "a route that is not built",
    path: "/v1/files",
    headers: () => ({}),
    status: 501,
    code: "not_implemented",
  },
];

/** Sends a large body on a raw connection before it reads, as clients do that cannot do both at once. */
function upload({ path, headers, bytes = LARGE }: Refusal, isChunked: boolean): Promise<RawAnswer> {
  const lines = Object.entries(headers()).map(([name, value]) => `${name}: ${value}\r\n`);
  const framing = isChunked ? "transfer-encoding: chunked" : `content-length: ${bytes}`;
  const piece = Buffer.alloc(MIB, "x");
  return sendRaw(
    gateway.url,
    (function* () {
      yield `POST ${path} HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n${lines.join("")}${framing}\r\n\r\n`;
      for (let at = 0; at < bytes; at += MIB) {
        if (!isChunked) yield piece;
        else
          yield Buffer.concat([Buffer.from(`${piece.length.toString(16)}\r\n`), piece, Buffer.from("\r\n")]);
      }
      if (isChunked) yield "0\r\n\r\n";
    })(),
  );
}

/** Returns the stdout of a program. Throws when it writes to stderr. */
async function outputOf(command: readonly string[]): Promise<string> {
  const { stdout, stderr } = await runProgram(command);
  if (stderr !== "") throw new Error(stderr);
  return stdout;
}

/** Sends again what came after the time of the pending body, in which a slow machine may not start a program. */
async function refusalOf({ status }: Refusal, send: () => Promise<string>): Promise<string> {
  for (let tries = 1; ; tries += 1) {
    const output = await send();
    if (status !== 429 || !output.includes("not valid JSON") || tries === 5) return output;
    await keepBusy();
  }
}

/** More options of curl. */
const CURL_OPTIONS = [
  "",
  "-H expect:100-continue",
  "-H expect:",
  "-H transfer-encoding:chunked",
  "--http1.0",
];

describe.each(REFUSALS)(
  "the error for $name reaches a client that sends its whole body first,",
  (refusal) => {
    const { path, headers, status, code, bytes = LARGE } = refusal;
    const { setTimeout } = platform;
    // A busy machine may hold a client up for the 500 ms after which it counts as silent.
    beforeAll(() => {
      platform.setTimeout = (run, ms, ...given) =>
        setTimeout(run, ms > 400 && ms <= 500 ? 10_000 : ms, ...given);
    });
    afterAll(() => {
      platform.setTimeout = setTimeout;
    });

    test.each([false, true])("on a raw connection (chunked: %p)", async (isChunked) => {
      const answer = await upload(refusal, isChunked);
      expect(answer.fault).toBeUndefined();
      expect(answer.status).toBe(status);
      expect(answer.body).toContain(code);
    });

    test.each(CURL_OPTIONS)("with curl %s", async (option) => {
      const own = Object.entries(headers()).flatMap(([name, value]) => ["-H", `${name}: ${value}`]);
      const usual = [
        "-sS",
        "-w",
        "%{http_code}",
        "-X",
        "POST",
        "-H",
        "connection: close",
        "-T",
        fileOf(bytes),
      ];
      const more = option.split(" ").filter((word) => word !== "");
      const command = ["curl", ...usual, ...own, ...more, `${gateway.url}${path}`];
      const output = await refusalOf(refusal, () => outputOf(command));
      expect(output).toContain(code);
      expect(output).toEndWith(String(status));
    });

    test.each(["node", "python"])("with %s", async (name) => {
      const given = [gateway.url, path, JSON.stringify({ ...headers(), connection: "close" }), fileOf(bytes)];
      if (name === "python") await requirePip();
      const program = name === "python" ? ["python3", "-c", PYTHON] : [await requireNode(), "-e", NODE];
      const output = await refusalOf(refusal, () => outputOf([...program, ...given]));
      expect(output).toStartWith(String(status));
      expect(output).toContain(code);
    });
  },
);

describe("an error after the whole body was read reaches a client that closes its connection", () => {
  test.each([100, 100_000])("with a body of %p bytes", async (bytes) => {
    const { secret } = await gateway.newPayer("0");
    const body = JSON.stringify(CHAT.body({ padding: "x".repeat(bytes) }));
    const head = `POST ${CHAT.path} HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\nx-api-key: ${secret}\r\n`;
    for (const framing of [
      `content-length: ${body.length}\r\n\r\n${body}`,
      `transfer-encoding: chunked\r\n\r\n${body.length.toString(16)}\r\n${body}\r\n0\r\n\r\n`,
    ]) {
      expect((await sendRaw(gateway.url, [head + framing])).status).toBe(402);
    }
  });
});

describe("a client that waits for the response before it sends its body", () => {
  test.each(["content-length: 3000000", "content-length: 900000000", "transfer-encoding: chunked"])(
    "gets the error with %s",
    async (framing) => {
      const head = `POST /nothing HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n${framing}\r\n\r\n`;
      expect((await sendRaw(gateway.url, [head])).status).toBe(404);
    },
  );
});
