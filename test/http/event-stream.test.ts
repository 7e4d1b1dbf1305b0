import { describe, expect, test } from "bun:test";
import { createEventStream, type EventStream } from "../../src/http/event-stream.ts";
import { until } from "../support/timeouts.ts";

/** Long beside what a busy machine takes for one turn of the event loop. */
const SILENCE_MS = 800;
const PING = ": ping\n\n";

interface Opened {
  readonly stream: EventStream;
  /** How often it was opened. */
  opens(): number;
  /** Everything that a reader who is there from the start has read. */
  text(): string;
  body(): ReadableStream<Uint8Array> | undefined;
}

function open({ reads = true } = {}): Opened {
  let opens = 0;
  let text = "";
  let opened: ReadableStream<Uint8Array> | undefined;
  const read = async (body: ReadableStream<Uint8Array>) => {
    for await (const chunk of body) text += new TextDecoder().decode(chunk);
  };
  const stream = createEventStream({
    keepAlive: PING,
    silenceMs: SILENCE_MS,
    onOpen(body) {
      opens += 1;
      opened = body;
      if (reads) void read(body);
    },
  });
  return { stream, opens: () => opens, text: () => text, body: () => opened };
}

describe("a stream that says nothing", () => {
  test.concurrent("case 38: is opened by a keep-alive, and gets another after each silence", async () => {
    const { stream, opens, text } = open();
    await Bun.sleep(SILENCE_MS / 2);
    expect(stream.isOpen).toBe(false);
    await until(() => text().split(PING).length > 2);
    expect(stream.isOpen).toBe(true);
    expect(opens()).toBe(1);
    expect(text()).toMatch(/^(: ping\n\n)+$/);
    stream.end("");
  });

  test.concurrent("gets none while it is written to", async () => {
    const { stream, text } = open();
    for (let piece = 0; piece < 12; piece++) {
      void stream.write("x");
      await Bun.sleep(SILENCE_MS / 8);
    }
    expect(text()).not.toContain("ping");
    stream.end("");
  });

  test.concurrent("gets none after its end, nor when it was abandoned", async () => {
    const ended = open();
    ended.stream.end("end");
    const abandoned = open();
    abandoned.stream.abandon();
    await Bun.sleep(SILENCE_MS * 3);
    expect(ended.text()).toBe("end");
    expect(abandoned.opens()).toBe(0);
  });

  test.concurrent("that its reader has left gets none, and takes writes as if they were read", async () => {
    const { stream, body } = open({ reads: false });
    void stream.write("x");
    await body()?.cancel();
    expect(stream.write("y".repeat(1_000_000))).toBeUndefined();
    await Bun.sleep(SILENCE_MS * 3);
    stream.end("end");
  });
});

describe("a reader that is slow", () => {
  test.concurrent("makes writes wait until there is room, and gets no keep-alives on top", async () => {
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

  test.concurrent("that hangs up ends the wait", async () => {
    const { stream, body } = open({ reads: false });
    const room = stream.write("y".repeat(200_000));
    await body()?.cancel();
    expect(await Promise.race([room?.then(() => "over"), Bun.sleep(60_000)])).toBe("over");
  });
});
