import { expect, test } from "bun:test";
import { connect } from "node:net";
import { CHAT } from "../support/client.ts";
import { gatewayForTests } from "../support/gateway-for-tests.ts";
import { gate } from "../support/script.ts";
import { answerWith } from "../support/scripted-answers.ts";

/** The shortest idle timeout that Bun supports. */
const IDLE_S = 4;
/** Ends a test whose connection is never closed. Longer than every limit here. */
const WAIT_MS = 60_000;
const TRIES_MAX = 5;

const gateway = gatewayForTests({ config: { idleS: IDLE_S } });

interface Connection {
  /** Everything received. */
  received(): string;
  /** Resolves when the gateway has closed the connection. */
  readonly closed: Promise<void>;
  reset(): void;
}

/** Opens a connection and sends bytes. Then sends `trickle`, if given, every half second. */
function open(bytes: string, trickle?: string): Connection {
  const { hostname, port } = new URL(gateway.url);
  const socket = connect({ host: hostname, port: Number(port) });
  const { promise: closed, resolve } = Promise.withResolvers<void>();
  let received = "";
  const timer = trickle && setInterval(() => socket.write(trickle), 500);
  socket.on("data", (data) => {
    received += data.toString("latin1");
  });
  socket.on("error", () => {});
  socket.on("close", () => {
    clearInterval(timer);
    resolve();
  });
  socket.write(bytes);
  return { received: () => received, closed, reset: () => socket.resetAndDestroy() };
}

function head(line: string, ...headers: string[]): string {
  return `${[`${line} HTTP/1.1`, ...headers].join("\r\n")}\r\n\r\n`;
}

const HOST = "host: localhost";
const key = () => `x-api-key: ${gateway.secret}`;
const UNFINISHED = "content-length: 3000";

interface Case {
  readonly name: string;
  readonly bytes: () => string;
  /** Sent every half second afterwards. */
  readonly trickle?: string;
  /** The status of the response before the connection is closed; `undefined` when there is no response. */
  readonly status?: number;
}

const CHAT_LINE = `POST ${CHAT.path}`;
const CASES: readonly Case[] = [
  { name: "whose headers never end", bytes: () => "POST /v1/messages HTTP/1.1\r\nhos" },
  { name: "whose headers trickle", bytes: () => "POST /v1/messages HTTP/1.1\r\nx-a: ", trickle: "a" },
  { name: "after a GET", bytes: () => head("GET /healthz", HOST), status: 200 },
  { name: "after a 404", bytes: () => head("POST /nothing", HOST, "content-length: 0"), status: 404 },
  {
    name: "after a 404, in a body that stops",
    bytes: () => head("POST /nothing", HOST, UNFINISHED),
    status: 404,
  },
  {
    name: "after a 404, in a body that trickles",
    bytes: () => head("POST /nothing", HOST, UNFINISHED),
    trickle: "a",
    status: 404,
  },
  {
    name: "after a 404, in chunks that trickle",
    bytes: () => head("POST /v1/key", HOST, "transfer-encoding: chunked"),
    trickle: "1\r\na\r\n",
    status: 404,
  },
  { name: "after a 501", bytes: () => head("POST /v1/files", HOST, UNFINISHED), trickle: "a", status: 501 },
  {
    name: "in the body of a GET",
    bytes: () => head("GET /v1/models", HOST, key(), UNFINISHED),
    trickle: "a",
    status: 200,
  },
  { name: "after a 401", bytes: () => head(CHAT_LINE, HOST, UNFINISHED), trickle: "a", status: 401 },
  {
    name: "after a 401 at a short host",
    bytes: () => head(CHAT_LINE, "host: gw", UNFINISHED),
    trickle: "a",
    status: 401,
  },
  {
    name: "after a 413",
    bytes: () => head(CHAT_LINE, HOST, key(), "content-length: 99999999"),
    trickle: "a",
    status: 413,
  },
  { name: "in a small body", bytes: () => head(CHAT_LINE, HOST, key(), UNFINISHED) },
  { name: "in a small body at a short host", bytes: () => head(CHAT_LINE, "host: x", key(), UNFINISHED) },
  {
    name: "in a small body that trickles",
    bytes: () => head(CHAT_LINE, HOST, key(), UNFINISHED),
    trickle: "a",
  },
  ...["localhost", "gw", ""].map((host) => ({
    name: `after a model's answer at the host ${JSON.stringify(host)}`,
    bytes: () => modelRequest(host),
    status: 200,
  })),
];

function modelRequest(host: string): string {
  const body = JSON.stringify(CHAT.body());
  return head(CHAT_LINE, `host: ${host}`, key(), `content-length: ${body.length}`) + body;
}

test("every idle connection is closed", async () => {
  let left = CASES;
  for (let tries = TRIES_MAX; left.length > 0; tries -= 1) {
    const answers = await statusesUntilClosed(left);
    // On a busy machine, the four seconds of a connection may be over before its answer.
    const late = tries > 1 ? left.filter(({ name, status }) => status && answers.get(name) === "") : [];
    const answered = left.filter((each) => !late.includes(each));
    expect(answered.map(({ name }) => [name, answers.get(name)])).toEqual(
      answered.map(({ name, status = "" }) => [name, String(status)]),
    );
    left = late;
  }
});

/** Opens a connection of each case, and returns the status that it has received when the gateway closes it. */
async function statusesUntilClosed(cases: readonly Case[]): Promise<ReadonlyMap<string, string>> {
  const opened = cases.map((each) => ({ name: each.name, connection: open(each.bytes(), each.trickle) }));
  const leftOpen = new Set(opened.map(({ name }) => name));
  const closed = opened.map(({ name, connection }) => connection.closed.then(() => leftOpen.delete(name)));
  await Promise.race([Promise.all(closed), Bun.sleep(WAIT_MS)]);
  expect([...leftOpen]).toEqual([]);
  return new Map(opened.map(({ name, connection }) => [name, connection.received().slice(9, 12)]));
}

test("a connection stays open while a model thinks, with any Host header", async () => {
  const { opened, open: answer } = gate();
  gateway.upstream.on(CHAT.model, answerWith(undefined, { gate: opened }));
  const connections = ["localhost", "gw", "x", ""].map((host) => open(modelRequest(host)));
  await gateway.upstream.waitForSeen(connections.length);
  // Twice the interval at which Bun looks for idle connections.
  await Bun.sleep(2 * IDLE_S * 1000 + 500);
  expect(gateway.upstream.seen.map(({ disconnectedAtMs }) => disconnectedAtMs)).toEqual(
    connections.map(() => undefined),
  );
  answer();
  for (const { received } of connections) while (!received().includes("Hello there")) await Bun.sleep(20);
});

test.each(["gw", ""])(
  "a client that disconnects cancels its upstream call, with the Host header %p",
  async (host) => {
    gateway.upstream.on(CHAT.model, answerWith(undefined, { gate: new Promise(() => {}) }));
    const connection = open(modelRequest(host));
    await gateway.upstream.waitForSeen(1);
    connection.reset();
    await gateway.upstream.seen[0]?.over;
    expect(gateway.upstream.seen[0]?.disconnectedAtMs).toBeNumber();
    await gateway.nothingIsHeld();
  },
);
