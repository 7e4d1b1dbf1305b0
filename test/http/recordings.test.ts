import { describe, expect, test } from "bun:test";
import { CHAT, dataOf, MESSAGES, objectOf, post, type Surface } from "../support/client.ts";
import { gatewayForTests } from "../support/gateway-for-tests.ts";
import {
  hasRecordings,
  type Recording,
  recordedBody,
  recordedLines,
  recording,
  recordings,
} from "../support/recordings.ts";
import { frame } from "../support/scripted-answers.ts";

const gateway = gatewayForTests();

const SMALL_BYTES = 4_000;

const surfaceOf = ({ protocol }: Recording): Surface => (protocol === "openai" ? CHAT : MESSAGES);
const streamedText = ({ name, protocol }: Recording) => frame(protocol, recordedLines(name));
const sizeOf = (each: Recording) => Buffer.byteLength(streamedText(each));

/** Sends a streamed request with usage, which the recording answers. */
async function play(each: Recording, how: Parameters<typeof recording>[1] = {}): Promise<Response> {
  const surface = surfaceOf(each);
  gateway.upstream.on(surface.model, recording(each.name, how));
  return post(gateway, surface, { stream: true, stream_options: { include_usage: true } });
}

/** Content, reasoning, arguments, finish reason and total tokens of chat chunks. */
function digestChat(chunks: readonly Record<string, unknown>[]) {
  const text = JSON.stringify(chunks);
  const collect = (name: string) =>
    [...text.matchAll(new RegExp(`"${name}":("(?:[^"\\\\]|\\\\.)*")`, "g"))].map(([, value = '""']) =>
      String(JSON.parse(value)),
    );
  return {
    content: collect("content").join(""),
    reasoning: [...collect("reasoning_content"), ...collect("reasoning")].join(""),
    arguments: collect("arguments").join(""),
    finish: collect("finish_reason"),
    totals: [...text.matchAll(/"total_tokens":(\d+)/g)].map(([, total]) => Number(total)).at(-1),
  };
}

const isFinish = (data: Record<string, unknown>) =>
  /"(finish_reason|stop_reason)":"|message_stop/.test(JSON.stringify(data));

describe.skipIf(!hasRecordings)("recorded answers", () => {
  test("exist for both protocols, whole and streamed", () => {
    for (const form of ["whole", "streamed"] as const) {
      expect(new Set(recordings(form).map(({ protocol }) => protocol)).size).toBe(2);
    }
  });

  describe("whole:", () => {
    test.each(recordings("whole"))("$name returns unchanged apart from the model name", async (each) => {
      const surface = surfaceOf(each);
      gateway.upstream.on(surface.model, recording(each.name));
      const response = await post(gateway, surface);
      const original: Record<string, unknown> = JSON.parse(recordedBody(each.name));
      expect(await objectOf(response)).toEqual({ ...original, model: surface.model });
      const { outcome } = await gateway.receiptOf(response);
      expect(outcome).toMatchObject({ outcome: "ok", source: "reported" });
    });

    test.each(recordings("whole"))("$name is a 502 and costs nothing when cut off anywhere", async (each) => {
      const surface = surfaceOf(each);
      const size = Buffer.byteLength(recordedBody(each.name).trimEnd());
      for (const cutAt of [0, 1, Math.floor(size / 2), size - 1]) {
        gateway.upstream.on(surface.model, recording(each.name, { cutAt, end: "close" }));
        const response = await post(gateway, surface);
        expect([cutAt, response.status]).toEqual([cutAt, 502]);
        expect((await gateway.receiptOf(response)).captured).toBe(0n);
      }
    });
  });

  describe("streamed:", () => {
    test.each(recordings("streamed").filter(({ protocol }) => protocol === "anthropic"))(
      "$name returns byte for byte apart from the model name",
      async (each) => {
        const expected = streamedText(each).replace(
          /("message":\{.*?"model":)"[^"]*"/,
          `$1"${MESSAGES.model}"`,
        );
        const response = await play(each);
        expect(await response.text()).toBe(expected);
        expect(await gateway.receiptOf(response)).toMatchObject({
          outcome: { outcome: "ok", source: "reported" },
        });
      },
    );

    test.each(recordings("streamed").filter(({ protocol }) => protocol === "openai"))(
      "$name keeps its content and finish, and names the requested model",
      async (each) => {
        const original = recordedLines(each.name).map((line): Record<string, unknown> => JSON.parse(line));
        const response = await play(each);
        const chunks = await dataOf(response);
        expect(digestChat(chunks)).toEqual(digestChat(original));
        expect(new Set(chunks.map(({ model }) => model))).toEqual(new Set([CHAT.model]));
        expect(await gateway.receiptOf(response)).toMatchObject({ outcome: { outcome: "ok" } });
      },
    );

    test.each(recordings("streamed"))("$name does not depend on the pieces of the stream", async (each) => {
      const whole = await (await play(each)).text();
      const sizes =
        sizeOf(each) < SMALL_BYTES ? [[1], [2], [3, 1], [7], [64]] : [[977], [4099], [3, 1000, 17]];
      for (const pieces of sizes) expect(await (await play(each, { pieces })).text()).toBe(whole);
    });

    const smallest = recordings("streamed").sort((a, b) => sizeOf(a) - sizeOf(b));
    const oneOfEach = ["openai", "anthropic"].flatMap((protocol) =>
      smallest.filter((each) => each.protocol === protocol).slice(0, 1),
    );
    test.each(oneOfEach)("$name does not depend on the place where it is cut in two", async (each) => {
      const whole = await (await play(each)).text();
      for (let at = 1; at < sizeOf(each); at += 7) {
        const pieces = [at, Number.POSITIVE_INFINITY];
        const text = await (await play(each, { pieces, pauseMs: 1 })).text();
        if (text !== whole) expect([at, text]).toEqual([at, whole]);
      }
    });

    test.each(recordings("streamed"))("$name is an error and never a finish when cut off", async (each) => {
      const size = sizeOf(each);
      const lines = recordedLines(each.name);
      const finishAt = lines.findIndex((line) => /"(finish_reason|stop_reason)":\s?"/.test(line));
      const finishBytes = Buffer.byteLength(
        frame(each.protocol, lines.slice(0, finishAt)).replace("data: [DONE]\n\n", ""),
      );
      const step = Math.max(1, Math.floor(size / 40));
      for (let cutAt = 0; cutAt < finishBytes; cutAt += step) {
        const response = await play(each, { cutAt, end: cutAt % 2 ? "reset" : "close" });
        const { captured, outcome } = await failureOf(response);
        expect(outcome?.outcome).toBe("upstream_unavailable");
        if (response.status === 502) expect(captured).toBe(0n);
        else expect(outcome?.source).toBe("estimated");
      }
      expect((await gateway.balances()).held).toBe(0n);
    });
  });
});

/** Expects an error status or an error event, and returns the receipt. */
async function failureOf(response: Response) {
  if (response.status === 200) {
    const frames = await dataOf(response);
    expect(frames.at(-1)).toHaveProperty("error");
    expect(frames.filter(isFinish)).toEqual([]);
  } else {
    expect(response.status).toBe(502);
    expect(await objectOf(response)).toHaveProperty("error");
  }
  return gateway.receiptOf(response);
}
