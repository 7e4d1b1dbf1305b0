import { describe, expect, test } from "bun:test";
import { revokeKey } from "../../src/accounts/keys/keys.ts";
import { MemoryGuard } from "../../src/http/sockets/memory-guard.ts";
import type { SocketOwner } from "../../src/http/sockets/run-create.ts";
import { CLOSES, type CloseReason, ResponsesSocket } from "../../src/http/sockets/socket.ts";
import { mutateBytes } from "../fuzz/cases/mutate-text.ts";
import { gatewayForTests } from "../support/gateway-for-tests.ts";
import { gate } from "../support/script.ts";
import { answerWith } from "../support/scripted-answers.ts";
import { createDraw } from "../support/seeded-random.ts";
import { connectSocket, type Frame, responseIdOf, type SocketClient } from "../support/socket-client.ts";
import { startTestGateway } from "../support/test-gateway.ts";
import { until } from "../support/until.ts";

const KIB = 1024;
const bounds = { total: 8, perAccount: 6, perKey: 3, memoryBytes: 96 * KIB, accountMemoryBytes: 64 * KIB };
const gateway = gatewayForTests({ config: { sockets: bounds } });

const hi = { type: "response.create", model: "chat", input: "Hi." };
const open = (count: number, options = {}) =>
  Promise.all(Array.from({ length: count }, () => connectSocket(gateway, options)));
const close = async (clients: readonly SocketClient[]) => {
  for (const { socket } of clients) socket.close();
  await Promise.all(clients.map(({ closed }) => closed));
};
const upgrade = (secret: string) =>
  fetch(`${gateway.url}/v1/responses`, {
    headers: {
      ...{ authorization: `Bearer ${secret}`, connection: "Upgrade", upgrade: "websocket" },
      ...{ "sec-websocket-version": "13", "sec-websocket-key": "dGhlIHNhbXBsZSBub25jZQ==" },
    },
  });

describe("open connections", () => {
  test("are bounded for a key, an account and the process; others go on over HTTP", async () => {
    const clients = await open(3);
    const full = await upgrade(gateway.secret);
    expect([full.status, full.headers.get("upgrade")]).toEqual([426, "HTTP/1.1"]);
    const { secret } = await gateway.newKey();
    clients.push(...(await open(3, { secret })));
    const { secret: third } = await gateway.newKey();
    expect((await upgrade(third)).status).toBe(426);
    const other = await gateway.newPayer("1");
    clients.push(...(await open(2, { secret: other.secret })));
    expect((await upgrade(other.secret)).status).toBe(426);
    await close(clients);
    await close(await open(3));
  });

  test("are bounded when they are opened at once", async () => {
    const { secret } = await gateway.newKey();
    const opening = Array.from({ length: 20 }, () =>
      connectSocket(gateway, { secret }).catch(() => undefined),
    );
    const opened = (await Promise.all(opening)).filter((client) => client !== undefined);
    expect(opened).toHaveLength(bounds.perKey);
    await close(opened);
  });

  test("are told of their age of 60 minutes, and closed", async () => {
    const frames: string[] = [];
    const closes: CloseReason[] = [];
    // The casts are safe: nothing else is read of a connection without events.
    const parts = {
      gateway: () => ({ clock: () => 0, log: gateway.log }),
    } as unknown as ConstructorParameters<typeof ResponsesSocket>[0];
    const transport = {
      send: (frame: string) => frames.push(frame) === 0,
      unreadBytes: () => 0,
      close: (reason: CloseReason) => void closes.push(reason),
    };
    const owner = {} as SocketOwner;
    new ResponsesSocket(parts, owner, transport).endWhenIdle(CLOSES.tooOld, "socket_too_old");
    expect(JSON.parse(frames[0] ?? "")).toMatchObject({
      status: 400,
      error: { code: "websocket_connection_limit_reached" },
    });
    expect(closes).toEqual([CLOSES.tooOld]);
  });

  test("need a key in force, and an account that is not suspended", async () => {
    for (const secret of ["", "sk-tg-unknown"]) {
      const answer = await upgrade(secret);
      expect(answer.status).toBe(401);
      expect(await answer.json()).toMatchObject({ error: { code: "invalid_api_key" } });
    }
  });

  test("of a revoked key end at its next response", async () => {
    const { secret, key } = await gateway.newKey();
    const client = await connectSocket(gateway, { secret });
    await client.create();
    await revokeKey({ database: gateway.tollgate.database }, key.id);
    // The gateway may take the key as it was for half a second.
    await until(async () => (await upgrade(secret)).status === 401);
    const frames = await client.create();
    expect(frames).toMatchObject([{ type: "error", status: 401, error: { code: "invalid_api_key" } }]);
    expect(await client.closed).toBe(1008);
  });

  test("of a key that is revoked during a response end with it", async () => {
    const never = gate();
    gateway.upstream.on("chat", answerWith(undefined, { pauseAt: { bytes: 700, gate: never.opened } }));
    const { secret, key } = await gateway.newKey();
    const client = await connectSocket(gateway, { secret });
    client.send(hi);
    await client.next();
    await revokeKey({ database: gateway.tollgate.database }, key.id);
    expect(await client.closed).toBe(1008);
    expect(client.frames.at(-1)).toMatchObject({ type: "response.failed", status: 401 });
    await gateway.nothingIsHeld();
    never.open();
    gateway.upstream.reset();
  });
});

describe("events of one connection", () => {
  test("wait up to 64 at a time, and a thousand at once are answered", async () => {
    const never = gate();
    gateway.upstream.on("chat", answerWith(undefined, { gate: never.opened }));
    const client = await connectSocket(gateway);
    for (let sent = 0; sent < 1_000; sent += 1) client.send(hi);
    // The wrong ones after the bound close the connection, before a thousand are answered.
    expect(await client.closed).toBe(1008);
    expect(client.frames.every(({ status }) => status === 429)).toBe(true);
    never.open();
    await gateway.nothingIsHeld();
    gateway.upstream.reset();
  });

  test("may name 32 queues", async () => {
    const client = await connectSocket(gateway);
    const last: Frame[] = [];
    for (let queue = 0; queue < 33; queue += 1)
      last.push(...(await client.create({ generate: false, stream_id: `queue-${queue}` })).slice(-1));
    expect(last.slice(0, 32).every(({ type }) => type === "response.completed")).toBe(true);
    expect(last.at(-1)).toMatchObject({
      stream_id: "queue-32",
      error: { code: "websocket_stream_limit_reached" },
    });
    await close([client]);
  });

  test("may be garbage of every kind: the gateway serves on, and nothing stays on hold", async () => {
    const draw = createDraw("garbage of sockets");
    let client = await connectSocket(gateway);
    for (let sent = 0; sent < 200; sent += 1) {
      const text = JSON.stringify({ ...hi, stream_id: `s${sent % 3}`, previous_response_id: "resp_1" });
      const bytes = mutateBytes(draw, Buffer.from(text));
      if (client.socket.readyState !== WebSocket.OPEN) client = await connectSocket(gateway);
      client.socket.send(draw() < 0.1 ? Uint8Array.from(bytes) : bytes.toString());
    }
    await close([client]);
    const last = await connectSocket(gateway);
    expect((await last.create()).at(-1)?.type).toBe("response.completed");
    await gateway.nothingIsHeld();
    await close([last]);
  });

  test("are at most as large as a body over HTTP", async () => {
    const client = await connectSocket(gateway);
    client.socket.send(" ".repeat(30 * KIB * KIB + 1));
    expect(await client.closed).toBe(1009);
  });
});

describe("conversations in memory", () => {
  const long = "y".repeat(40 * KIB);

  test("of an account at its bound are forgotten from the oldest on, whose connection is closed", async () => {
    const [one, other] = await open(2);
    if (!one || !other) throw new Error("There is no connection");
    await one.create({ generate: false, input: long });
    const frames = await other.create({ generate: false, input: long });
    expect(await one.closed).toBe(1013);
    const next = await other.create({ previous_response_id: responseIdOf(frames) });
    expect(next.at(-1)?.type).toBe("response.completed");
    await close([other]);
  });

  test("that are larger than the bound are not kept, and their connection is closed after the response", async () => {
    const client = await connectSocket(gateway);
    const frames = await client.create({ input: long + long });
    expect(frames.at(-1)?.type).toBe("response.completed");
    expect(await client.closed).toBe(1013);
  });

  test("end with their connection", async () => {
    const client = await connectSocket(gateway);
    await client.create({ generate: false, input: long });
    await close([client]);
    await until(async () => {
      const metrics = await fetch(`http://${gateway.tollgate.metricsAddress}/metrics`).catch(() => undefined);
      return metrics === undefined || /tollgate_websocket_memory_bytes 0\n/.test(await metrics.text());
    });
  });
});

describe("a guard of memory", () => {
  test("relieves a process above nine tenths of its memory, until it is below", async () => {
    let residentBytes = 89;
    let relieved = 0;
    const guard = new MemoryGuard({ bytesMax: 100, residentBytes: () => residentBytes }, () => {
      relieved += 1;
      if (relieved === 2) residentBytes = 50;
    });
    guard.start();
    await Bun.sleep(250);
    expect(relieved).toBe(0);
    residentBytes = 91;
    await until(() => residentBytes === 50);
    await Bun.sleep(250);
    expect(relieved).toBe(2);
    guard.stop();
  });
});

describe("the end of a gateway", () => {
  test("closes idle connections, and busy ones after their response, with 1001", async () => {
    const own = await startTestGateway({ config: { drainMs: 60_000 } });
    const opened = gate();
    own.upstream.on("chat", answerWith(undefined, { pauseAt: { bytes: 700, gate: opened.opened } }));
    const [idle, busy] = [await connectSocket(own), await connectSocket(own)];
    busy.send(hi);
    await busy.next();
    const stopped = own.stop();
    expect(await idle.closed).toBe(1001);
    busy.send(hi);
    opened.open();
    expect(await busy.closed).toBe(1001);
    expect(busy.frames.at(-1)?.type).toBe("response.completed");
    await stopped;
  });

  test("ends a response at the drain limit with its error, and settles it", async () => {
    const own = await startTestGateway({ config: { drainMs: 100 } });
    const never = gate();
    own.upstream.on("chat", answerWith(undefined, { pauseAt: { bytes: 700, gate: never.opened } }));
    const client = await connectSocket(own);
    client.send(hi);
    await client.next();
    await own.stop();
    expect(await client.closed).toBe(1001);
    expect(client.frames.at(-1)).toMatchObject({
      type: "response.failed",
      error: { code: "internal_error" },
    });
    never.open();
  });
});
