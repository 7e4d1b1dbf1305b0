import { afterEach, expect, test } from "bun:test";
import { createCallerWatch, type KeyEnd } from "../../src/gateway/caller-watch.ts";
import type { ProcessMemory } from "../../src/http/sockets/memory-guard.ts";
import { ResponsesSockets, type SocketData, type SocketsParts } from "../../src/http/sockets/sockets.ts";
import { createCapturedLog } from "../support/captured-log.ts";
import { connectSocket } from "../support/socket-client.ts";

const cleanups: (() => unknown)[] = [];
afterEach(() => {
  for (const cleanup of cleanups.splice(0)) cleanup();
});

interface Options {
  readonly processMemory?: ProcessMemory;
  /** Which end keys have. */
  readonly end?: () => KeyEnd | undefined;
}

/** The connections of keys that need no gateway, because none asks for a response. */
function serveSockets({ processMemory, end = () => undefined }: Options) {
  const log = createCapturedLog();
  const findEnded = async (ids: readonly string[]) => {
    const why = end();
    return new Map(why ? ids.map((id) => [id, why] as const) : []);
  };
  const caller = (secret: string) => ({
    key: { id: secret, accountId: secret.split(":")[0] ?? "", parentIds: [] },
  });
  const gateway = { authenticate: caller, clock: () => performance.now(), log, files: { max: undefined } };
  const socketCallers = createCallerWatch({ findEnded, log, everyMs: 10 });
  // The cast is safe: idle connections use no other part.
  const sockets = new ResponsesSockets({
    gateway: () => gateway,
    running: { mayBegin: () => true },
    socketBounds: { total: 10, perAccount: 10, perKey: 10, memoryBytes: 1_000, accountMemoryBytes: 1_000 },
    socketCallers,
    processMemory,
  } as unknown as SocketsParts);
  const server = Bun.serve<SocketData>({
    port: 0,
    fetch: (request): Promise<Response | undefined> => sockets.open(request, server),
    websocket: sockets.handlers,
  });
  cleanups.push(() => {
    sockets.close();
    socketCallers.close();
    return server.stop(true);
  });
  return { url: server.url.origin, log };
}

test.each(["revoked", "suspended"] as const)("an idle connection of a %s caller is closed", async (why) => {
  let end: KeyEnd | undefined;
  const { url } = serveSockets({ end: () => end });
  const client = await connectSocket({ url, secret: "account:key" });
  await Bun.sleep(50);
  expect(client.socket.readyState).toBe(WebSocket.OPEN);
  end = why;
  expect(await client.closed).toBe(1008);
});

test("a process without memory closes the connections of the account with the most", async () => {
  let isFull = false;
  const isRelieved = () => log.text().includes("memory nearly used up, websockets closed");
  const residentBytes = () => (isFull && !isRelieved() ? 95 : 50);
  const { url, log } = serveSockets({ processMemory: { bytesMax: 100, residentBytes } });
  const [one, two, three] = await Promise.all(
    ["large:1", "large:2", "small:1"].map((secret) => connectSocket({ url, secret })),
  );
  isFull = true;
  expect([await one?.closed, await two?.closed]).toEqual([1013, 1013]);
  expect(three?.socket.readyState).toBe(WebSocket.OPEN);
  expect(isRelieved()).toBe(true);
});
