import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { convertEventStream } from "../../src/upstream/bedrock-events.ts";
import { claudeEvents, converseEvents } from "../support/bedrock/answers.ts";
import { encodeChunk, encodeEvent, encodeException, encodeMessage } from "../support/bedrock/event-stream.ts";

/** Converts a stream of these pieces to text, without the marks of progress. */
async function convert(...pieces: readonly Uint8Array[]): Promise<string> {
  const body = new ReadableStream<Uint8Array>({
    start(controller) {
      for (const piece of pieces) controller.enqueue(piece);
      controller.close();
    },
  });
  return (await new Response(convertEventStream(body)).text()).replaceAll(": \n\n", "");
}

describe("the event stream of Bedrock", () => {
  test("is the same however its bytes are cut", async () => {
    const bytes = Buffer.concat([
      ...converseEvents(
        [{ text: "Grüße, 世界" }, { toolUse: { toolUseId: "t", name: "f", input: {} } }],
        "end_turn",
      ),
      ...claudeEvents([{ type: "text", text: "Hello." }]),
    ]);
    const whole = await convert(bytes);
    expect(whole).toContain("event: contentBlockDelta\ndata: {");
    const cuts = fc.array(fc.nat(bytes.byteLength), { maxLength: 40 });
    await fc.assert(
      fc.asyncProperty(cuts, async (places) => {
        const ends = [...places].sort((one, other) => one - other);
        const pieces = [0, ...ends].map((start, index) =>
          bytes.subarray(start, ends[index] ?? bytes.byteLength),
        );
        expect(await convert(...pieces)).toBe(whole);
      }),
      { numRuns: 50 },
    );
  });

  test("sends marks of progress while a message is incomplete", async () => {
    const event = encodeEvent("messageStop", { stopReason: "end_turn" });
    const body = new Response(new Uint8Array(event.subarray(0, 20))).body;
    const reader = body && convertEventStream(body).getReader();
    expect(Buffer.from((await reader?.read())?.value ?? []).toString()).toBe(": \n\n");
    await expect(Promise.resolve(reader?.read())).rejects.toThrow("The event stream was cut");
  });

  test("ends with a fault for any byte that is damaged, after the messages before it", async () => {
    const first = encodeChunk({ type: "ping" });
    const second = encodeChunk({ type: "message_stop" });
    for (let offset = 0; offset < second.byteLength; offset += 1) {
      const damaged = Buffer.from(second);
      damaged.writeUInt8(damaged.readUInt8(offset) ^ 0x40, offset);
      const body = new Response(new Uint8Array(Buffer.concat([first, damaged]))).body;
      const reader = body && convertEventStream(body).getReader();
      expect(Buffer.from((await reader?.read())?.value ?? []).toString()).toContain('{"type":"ping"}');
      await expect(Promise.resolve(reader?.read())).rejects.toThrow(/damaged|cut|too long/);
    }
  });

  test("has exceptions and errors as events of the name error", async () => {
    expect(await convert(encodeException("throttlingException", "slow"))).toBe(
      'event: error\ndata: {"message":"slow"}\n\n',
    );
    const headers = { ":message-type": "error", ":error-code": "InternalFailure", ":error-message": "oops" };
    expect(await convert(encodeMessage(headers, ""))).toBe("event: error\ndata: oops\n\n");
    expect(async () => convert(encodeMessage({ ":message-type": "other" }, ""))).toThrow(
      "An event has no kind",
    );
    expect(
      await convert(encodeMessage({ ":message-type": "event", ":event-type": "initial-response" }, "")),
    ).toBe("");
  });

  test("has a usage of the cache counts that only Bedrock's metrics have", async () => {
    const metrics = {
      inputTokenCount: 3,
      outputTokenCount: 4,
      cacheReadInputTokenCount: 100,
      cacheWriteInputTokenCount: 20,
    };
    const stop = encodeChunk({ type: "message_stop", "amazon-bedrock-invocationMetrics": metrics });
    const usage = {
      input_tokens: 3,
      output_tokens: 4,
      cache_read_input_tokens: 100,
      cache_creation_input_tokens: 20,
    };
    expect(await convert(stop)).toBe(
      `data: ${JSON.stringify({ type: "message_delta", delta: {}, usage })}\n\ndata: {"type":"message_stop"}\n\n`,
    );
    const start = encodeChunk({ type: "message_start", message: { usage: { cache_read_input_tokens: 0 } } });
    expect(await convert(start, stop)).not.toContain("message_delta");
  });

  test("closes its source when it is cancelled", async () => {
    let isCancelled = false;
    const source = new ReadableStream<Uint8Array>({
      cancel() {
        isCancelled = true;
      },
    });
    await convertEventStream(source).cancel();
    expect(isCancelled).toBe(true);
  });
});
