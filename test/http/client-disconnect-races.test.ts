import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { connect, createServer, type Server, type Socket } from "node:net";
import { CHAT, objectOf, post, SURFACES, type Surface } from "../support/client.ts";
import { answerWith } from "../support/scripted-answers.ts";
import {
  scriptedModel,
  scriptedRoute,
  scriptedUpstream,
  scriptedUpstreams,
} from "../support/test-catalog.ts";
import { startTestGateway, type TestGateway } from "../support/test-gateway.ts";
import { until } from "../support/until.ts";

let deaf: Server;
const deafSockets: Socket[] = [];
let gateway: TestGateway;
beforeAll(async () => {
  // Accepts connections and reads only the first bytes.
  deaf = createServer((socket) => {
    deafSockets.push(socket);
    socket.on("error", () => {});
    socket.once("data", () => socket.pause());
  });
  const { promise: listening, resolve } = Promise.withResolvers<void>();
  deaf.listen(0, "127.0.0.1", () => resolve());
  await listening;
  gateway = await startTestGateway({
    models: [
      scriptedModel("chat", "openai"),
      scriptedModel("claude", "anthropic"),
      scriptedModel("deaf", "openai", { routes: [scriptedRoute("deaf", "deaf")] }),
    ],
    upstreams: (scripted) => [
      ...scriptedUpstreams(scripted),
      scriptedUpstream("deaf", "openai", { baseUrl: urlOf(deaf) }),
    ],
  });
});
beforeEach(() => gateway.upstream.reset());
afterAll(async () => {
  await gateway.stop();
  for (const socket of deafSockets) socket.destroy();
  deaf.close();
});

function urlOf(server: Server): string {
  const address = server.address();
  if (typeof address !== "object" || address === null) throw new Error("It does not listen");
  return `http://127.0.0.1:${address.port}`;
}

/** Sends a request on a connection of its own, and reads nothing. */
function ask(surface: Surface, more: { stream: boolean; secret?: string }): Socket {
  const { hostname, port } = new URL(gateway.url);
  const socket = connect({ host: hostname, port: Number(port) });
  socket.on("error", () => {});
  const { secret = gateway.secret, ...members } = more;
  const body = JSON.stringify(surface.body(members));
  socket.write(
    `POST ${surface.path} HTTP/1.1\r\nhost: localhost\r\nx-api-key: ${secret}\r\ncontent-length: ${body.length}\r\n\r\n${body}`,
  );
  return socket;
}

const DISCONNECTS = {
  fin: (socket: Socket) => socket.end(),
  close: (socket: Socket) => socket.destroy(),
  reset: (socket: Socket) => socket.resetAndDestroy(),
} as const;

function requestLines(): string[] {
  return gateway.log
    .text()
    .split("\n")
    .filter((line) => line.includes('"event":"request"'));
}

/** Resolves when this many requests have ended in total. Rejects after two minutes. */
async function requestsEnd(count: number): Promise<void> {
  await until(() => requestLines().length >= count);
}

describe("120 clients that disconnect at once", () => {
  test.each(["fin", "close", "reset"] as const)(
    "with %s leave no hold, slot or upstream call behind",
    async (how) => {
      const { secret, key } = await gateway.newPayer("100");
      const before = requestLines().length;
      for (const { model } of SURFACES)
        gateway.upstream.on(model, answerWith(undefined, { pieces: [90], pauseMs: 5 }));
      const sockets = Array.from({ length: 120 }, (_, at) =>
        ask(SURFACES[at % 2] ?? CHAT, { stream: at % 4 < 2, secret }),
      );
      await gateway.upstream.waitForSeen(120);
      for (const [at, socket] of sockets.entries())
        setTimeout(() => DISCONNECTS[how](socket), (at * 37) % 60);
      await requestsEnd(before + 120);
      await Promise.all(gateway.upstream.seen.map(({ over }) => over));
      await gateway.nothingIsHeld(key.accountId);
      const state = await fetch(`${gateway.url}/v1/key`, { headers: { "x-api-key": secret } });
      expect(await objectOf(state)).toMatchObject({ concurrent_requests: { used: 0 } });
      expect(gateway.log.text()).not.toMatch(/stray|"internal_error"|"level":"error"/);
      expect((await post(gateway, CHAT, { secret })).status).toBe(200);
    },
  );
});

describe.each(SURFACES)("a client that disconnects between finish and settlement, on $path,", (surface) => {
  test("pays for the whole answer", async () => {
    const { client } = gateway.sqlite;
    gateway.upstream.on(surface.model, (request) => {
      // The hold is placed. From here on the ledger waits for a competing write transaction.
      client.run("BEGIN IMMEDIATE");
      return answerWith(undefined, { framing: "until_close" })(request);
    });
    const before = requestLines().length;
    const controller = new AbortController();
    const response = await post(gateway, surface, { stream: true, signal: controller.signal });
    const reader = response.body?.getReader();
    let text = "";
    // The finish reason is in the same piece as the last word.
    while (!text.includes("friend")) text += new TextDecoder().decode((await reader?.read())?.value);
    controller.abort();
    await reader?.read().catch(() => undefined);
    client.run("COMMIT");
    await requestsEnd(before + 1);
    expect(requestLines().at(-1)).toContain('"outcome":"ok"');
    // A ledger that was held up for 3 s settles from the outbox.
    await gateway.nothingIsHeld();
    expect(await gateway.receiptOf(response)).toMatchObject({ state: "settled", captured: 25_000n });
  });
});

describe("a client that disconnects while an upstream does not read its request", () => {
  test.each([false, true])("ends the upload at once (streamed: %p)", async (stream) => {
    const before = deafSockets.length;
    const content = "x".repeat(8 * 1024 * 1024);
    const controller = new AbortController();
    const body = { model: "deaf", stream, messages: [{ role: "user", content }], signal: controller.signal };
    const pending = post(gateway, CHAT, body);
    while (deafSockets.length === before) await Bun.sleep(5);
    await Bun.sleep(30);
    const { promise: closed, resolve } = Promise.withResolvers<void>();
    const socket = deafSockets.at(-1);
    socket?.once("close", () => resolve());
    controller.abort();
    await Promise.allSettled([pending]);
    // A paused socket does not report its end.
    socket?.resume();
    await closed;
    await gateway.nothingIsHeld();
  });
});
