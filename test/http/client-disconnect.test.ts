import { describe, expect, test } from "bun:test";
import { connect } from "node:net";
import { CHAT, post, SURFACES } from "../support/client.ts";
import { gatewayForTests } from "../support/gateway-for-tests.ts";
import type { ModelOutput } from "../support/model-output.ts";
import { answerWith } from "../support/scripted-answers.ts";
import {
  scriptedModel,
  scriptedRoute,
  scriptedUpstream,
  scriptedUpstreams,
} from "../support/test-catalog.ts";

// Only the idle timeout is short; the others suit a busy machine.
const timeouts = { connectMs: 60_000, firstOutputMs: 60_000, idleMs: 150, totalMs: 120_000 };

const gateway = gatewayForTests({
  models: [
    scriptedModel("chat", "openai"),
    scriptedModel("claude", "anthropic"),
    scriptedModel("brief", "openai", { routes: [scriptedRoute("brief", "brief")] }),
  ],
  upstreams: (scripted) => [
    ...scriptedUpstreams(scripted),
    scriptedUpstream("brief", "openai", { baseUrl: scripted.openaiUrl, timeouts }),
  ],
});

const OUTPUT: ModelOutput = {
  text: "one two three four five six seven eight",
  usage: { input: 11, output: 9 },
};

/** Number of bytes of a stream before the event that contains a word. */
function bytesBefore(text: string, word: string): number {
  const at = text.indexOf(word);
  if (at < 0) throw new Error(`"${word}" is not in the stream`);
  return text.lastIndexOf("\n\n", at) + 2;
}

/** Streams the output up to a word, and then sends nothing more. */
function streamUntil(model: string, word: string): void {
  gateway.upstream.on(model, async function* (request) {
    let text = "";
    for await (const step of answerWith(OUTPUT, { framing: "until_close" })(request)) {
      if ("send" in step) text += String(step.send);
    }
    yield { send: text.slice(0, bytesBefore(text, word)) };
    yield { leave: "hang" };
  });
}

/** Whether the log, from character `start` on, has a request with the outcome client_closed. */
function isClientClosedLogged(start: number): boolean {
  return gateway.log.text().slice(start).includes('"outcome":"client_closed"');
}

/**
 * Calls `disconnect` with the pause between request and disconnect. Repeats with a longer pause while no
 * request has arrived in time, as on a busy machine. Resolves when the log has a client_closed request.
 */
async function untilDisconnected(disconnect: (pauseMs: number) => Promise<void>): Promise<void> {
  const logged = gateway.log.text().length;
  for (let pauseMs = 50; !isClientClosedLogged(logged); pauseMs *= 4) {
    await disconnect(pauseMs);
    for (let left = 100; left > 0 && !isClientClosedLogged(logged); left--) await Bun.sleep(pauseMs / 10);
  }
}

describe.each(SURFACES)("a client that disconnects, on $path,", (surface) => {
  test.each([false, true])("while its hold is placed reaches no upstream (streamed: %p)", async (stream) => {
    const before = await gateway.balances();
    const { client } = gateway.sqlite;
    await untilDisconnected(async (pauseMs) => {
      // The ledger waits for a competing write transaction.
      client.run("BEGIN IMMEDIATE");
      const controller = new AbortController();
      const pending = post(gateway, surface, { stream, signal: controller.signal }).catch(() => "aborted");
      await Bun.sleep(pauseMs);
      controller.abort();
      expect(await pending).toBe("aborted");
      client.run("COMMIT");
    });
    expect(await gateway.balances()).toEqual(before);
    expect(gateway.upstream.seen).toBeEmpty();
  });

  test("in the middle of its body takes no hold and reaches no upstream", async () => {
    const before = await gateway.balances();
    const { hostname, port } = new URL(gateway.url);
    await untilDisconnected(async (pauseMs) => {
      const socket = connect({ host: hostname, port: Number(port) });
      socket.write(
        `POST ${surface.path} HTTP/1.1\r\nhost: localhost\r\nx-api-key: ${gateway.secret}\r\ncontent-length: 1000\r\n\r\n{"model":`,
      );
      await Bun.sleep(pauseMs);
      socket.resetAndDestroy();
    });
    expect(gateway.upstream.seen).toBeEmpty();
    expect(await gateway.balances()).toEqual(before);
    expect(gateway.log.text()).not.toContain("internal");
    expect((await post(gateway, surface)).status).toBe(200);
  });
});

test("the idle timeout starts with the last piece, also when the first-output timeout is longer", async () => {
  streamUntil("brief", "four");
  const response = await post(gateway, CHAT, { model: "brief", stream: true });
  await response.text();
  // The first-output timeout is a minute, the idle timeout 150 ms.
  const [attempt] = (await gateway.receiptOf(response)).outcome?.attempts ?? [];
  expect(attempt?.ms).toBeWithin(140, 30_000);
});

test("a thousand streams that end in any order leave no hold", async () => {
  const before = await gateway.balances();
  let charged = 0n;
  for (let round = 0; round < 10; round++) {
    const ids = await Promise.all(
      Array.from({ length: 100 }, async (_, index) => {
        const surface = SURFACES[index % 2] ?? SURFACES[0];
        const controller = new AbortController();
        const response = await post(gateway, surface, { stream: true, signal: controller.signal });
        if (index % 3 === 0) await response.text();
        else if (index % 3 === 1) await response.body?.cancel();
        else controller.abort();
        return response.headers.get("x-request-id") ?? "";
      }),
    );
    await gateway.nothingIsHeld();
    for (const id of ids) charged += (await gateway.receiptOf(id)).captured;
  }
  expect((await gateway.balances()).posted).toBe(before.posted - charged);
});
