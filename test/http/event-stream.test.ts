import { describe, expect, test } from "bun:test";
import { createEventStream, type EventStream } from "../../src/http/event-stream.ts";
import { until } from "../support/until.ts";

/** Long compared with one event-loop turn of a busy machine. */
const SILENCE_MS = 800;
const PING = ": ping\n\n";

interface Opened {
  readonly stream: EventStream;
  /** How often `onOpen` was called. */
  opens(): number;
  /** Everything that the reader has read. */
  text(): string;
  body(): ReadableStream<Uint8Array> | undefined;
}

function open({ reads = true, silenceMs = SILENCE_MS } = {}): Opened {
  let opens = 0;
  let text = "";
  let opened: ReadableStream<Uint8Array> | undefined;
  const read = async (body: ReadableStream<Uint8Array>) => {
    for await (const chunk of body) text += Buffer.from(chunk).toString();
  };
  const stream = createEventStream({
    keepAlive: PING,
    silenceMs,
    onOpen(body) {
      opens += 1;
      opened = body;
      if (reads) void read(body);
    },
  });
  return { stream, opens: () => opens, text: () => text, body: () => opened };
}

describe("an event stream without writes", () => {
  test.concurrent("case 38: is opened by a keep-alive comment, and gets another after each silence", async () => {
    const startedAt = performance.now();
    const { stream, opens, text } = open();
    expect(stream.isOpen).toBe(false);
    await until(() => stream.isOpen);
    expect(performance.now() - startedAt).toBeGreaterThanOrEqual(SILENCE_MS);
    await until(() => text().split(PING).length > 2);
    expect(opens()).toBe(1);
    expect(text()).toMatch(/^(: ping\n\n)+$/);
    stream.end("");
  });

  test.concurrent("gets no keep-alive while it is written to", async () => {
    const { stream, text } = open({ silenceMs: 4 * SILENCE_MS });
    for (let piece = 0; piece < 40; piece++) {
      void stream.write("x");
      await Bun.sleep(SILENCE_MS / 8);
    }
    expect(text()).not.toContain("ping");
    stream.end("");
  });

  test.concurrent("gets no keep-alive after its end, or after it was abandoned", async () => {
    const ended = open();
    ended.stream.end("end");
    const abandoned = open();
    abandoned.stream.abandon();
    await Bun.sleep(SILENCE_MS * 3);
    expect(ended.text()).toBe("end");
    expect(abandoned.opens()).toBe(0);
  });

  test.concurrent("whose reader has left gets no keep-alive, and accepts writes at once", async () => {
    const { stream, body } = open({ reads: false });
    void stream.write("x");
    await body()?.cancel();
    expect(stream.write("y".repeat(1_000_000))).toBeUndefined();
    await Bun.sleep(SILENCE_MS * 3);
    stream.end("end");
  });
});

describe("the body", () => {
  test("is sent in UTF-8, each chunk by itself, with half a surrogate pair replaced", async () => {
    const texts = ["héé 日本", "😀", "half \ud83d", "\ude00 half", "y".repeat(200_000)];
    await using server = Bun.serve({
      port: 0,
      fetch: () =>
        new Promise<Response>((resolve) => {
          const onOpen = (body: ReadableStream<Uint8Array>) => resolve(new Response(body));
          const stream = createEventStream({ keepAlive: PING, onOpen });
          for (const text of texts) void stream.write(text);
          stream.end("");
        }),
    });
    const sent = await (await fetch(server.url)).bytes();
    expect(sent).toEqual(Buffer.concat(texts.map((text) => new TextEncoder().encode(text))));
  });
});

describe("a slow reader", () => {
  test.concurrent("makes writes wait until there is room, and gets no keep-alives meanwhile", async () => {
    const { stream, body } = open({ reads: false });
    const room = stream.write("y".repeat(200_000));
    expect(room).toBeInstanceOf(Promise);
    let hasRoom = false;
    void room?.then(() => {
      hasRoom = true;
    });
    await Bun.sleep(SILENCE_MS * 3);
    expect(hasRoom).toBe(false);
    stream.end("end");
    expect(await new Response(body()).text()).toBe(`${"y".repeat(200_000)}end`);
  });

  test.concurrent("that disconnects ends the wait of a write", async () => {
    const { stream, body } = open({ reads: false });
    const room = stream.write("y".repeat(200_000));
    await body()?.cancel();
    expect(await Promise.race([room?.then(() => "over"), Bun.sleep(60_000)])).toBe("over");
  });
});
