import { describe, expect, test } from "bun:test";
import { dataOf, post, SURFACES, type Surface } from "../support/client.ts";
import { expectError } from "../support/expect-error.ts";
import { gatewayForTests } from "../support/gateway-for-tests.ts";
import type { Script, Step } from "../support/script.ts";
import { answerWith } from "../support/scripted-answers.ts";

const gateway = gatewayForTests();

const MIB = 1024 * 1024;
const HEAD = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n";
const PADDING = "p".repeat(64 * 1024);

/** A padded event without output. */
function padding({ name }: Surface): string {
  return name === "chat"
    ? `data: {"id":"x","choices":[{"index":0,"delta":{},"finish_reason":null}],"padding":"${PADDING}"}\n\n`
    : `event: ping\ndata: {"type":"ping","padding":"${PADDING}"}\n\n`;
}

/** An event with 64 KiB of output. */
function output({ name }: Surface): string {
  return name === "chat"
    ? `data: {"id":"x","choices":[{"index":0,"delta":{"content":"${PADDING}"},"finish_reason":null}]}\n\n`
    : `event: content_block_delta\ndata: {"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"${PADDING}"}}\n\n`;
}

/** The default streamed answer without its last event. */
async function answerWithoutEnd(request: Parameters<Script>[0]): Promise<string> {
  let text = "";
  for await (const step of answerWith(undefined, { framing: "until_close" })(request)) {
    if ("send" in step) text += String(step.send);
  }
  return text.slice(0, text.lastIndexOf("\n\n", text.length - 3) + 2);
}

/** Sends an event again and again, up to 400 MiB. */
function* forever(event: string, count: { bytes: number }): Generator<Step> {
  for (; count.bytes < 400 * MIB; count.bytes += event.length) yield { send: event };
}

describe.each(SURFACES)("an upstream that does not stop sending, on $path,", (surface) => {
  test("may send a megabyte of empty events before its output", async () => {
    gateway.upstream.on(surface.model, async function* (request) {
      const text = await answerWithoutEnd(request);
      const start = text.indexOf("\r\n\r\n") + 4;
      const first = text.indexOf("\n\n", start) + 2;
      yield { send: text.slice(0, first) + padding(surface).repeat(16) + text.slice(first) };
      yield { leave: "close" };
    });
    const response = await post(gateway, surface, { stream: true });
    expect(response.status).toBe(200);
    expect((await response.text()).length).toBeGreaterThan(MIB);
    expect((await gateway.receiptOf(response)).outcome).toMatchObject({ outcome: "ok" });
  });

  test("is cut off when it sends only empty events, and costs nothing", async () => {
    const count = { bytes: 0 };
    gateway.upstream.on(surface.model, function* () {
      yield { send: HEAD };
      yield* forever(padding(surface), count);
    });
    const response = await post(gateway, surface, { stream: true });
    expect((await gateway.receiptOf(response)).captured).toBe(0n);
    await expectError(response, surface, "upstream_unavailable");
    expect(count.bytes).toBeLessThan(100 * MIB);
  });

  test("is complete when it continues after its finish", async () => {
    const count = { bytes: 0 };
    gateway.upstream.on(surface.model, async function* (request) {
      yield { send: await answerWithoutEnd(request) };
      yield* forever(padding(surface), count);
    });
    const response = await post(gateway, surface, { stream: true });
    expect(await response.text()).toMatch(/\[DONE\]\n\n$|message_stop"}\n\n$/);
    expect((await gateway.receiptOf(response)).outcome).toMatchObject({ outcome: "ok", source: "reported" });
    expect(count.bytes).toBeLessThan(100 * MIB);
  });

  test("is cut off when it generates too much, and is charged up to the output limit", async () => {
    const count = { bytes: 0 };
    gateway.upstream.on(surface.model, async function* (request) {
      const text = await answerWithoutEnd(request);
      yield { send: text.slice(0, text.indexOf("Hello")).replace(/[^\n]*$/, "") };
      yield* forever(output(surface), count);
    });
    const response = await post(gateway, surface, { stream: true });
    expect((await dataOf(response)).at(-1)).toMatchObject({ error: { message: expect.any(String) } });
    expect((await gateway.receiptOf(response)).outcome).toMatchObject({
      outcome: "upstream_unavailable",
      usage: { outputTokens: 1_000 },
    });
    expect(count.bytes).toBeLessThan(100 * MIB);
  });

  test("is cut off when its body is longer than its content-length", async () => {
    const count = { bytes: 0 };
    gateway.upstream.on(surface.model, function* () {
      yield { send: "HTTP/1.1 200 OK\r\ncontent-length: 5\r\ntransfer-encoding: chunked\r\n\r\n" };
      yield* forever(`10000\r\n${PADDING}\r\n`, count);
    });
    await expectError(await post(gateway, surface), surface, "answer_too_large");
    expect(count.bytes).toBeLessThan(100 * MIB);
  });

  test("is complete when it fails after its finish, and its connection is closed at once", async () => {
    const failure =
      surface.name === "chat" ? 'data: {"error":{}}\n\n' : 'event: error\ndata: {"error":{}}\n\n';
    gateway.upstream.on(surface.model, async function* (request) {
      yield { send: (await answerWithoutEnd(request)) + failure };
      yield { leave: "hang" };
    });
    const response = await post(gateway, surface, { stream: true });
    expect(await response.text()).toMatch(/\[DONE\]\n\n$|message_stop"}\n\n$/);
    const [seen] = gateway.upstream.seen;
    expect(await Promise.race([seen?.over.then(() => "closed"), Bun.sleep(60_000)])).toBe("closed");
  });
});
