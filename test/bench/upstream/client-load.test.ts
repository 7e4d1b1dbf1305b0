import { describe, expect, test } from "bun:test";
import { WHOLE_BODY } from "../answers.ts";
import { createClientTally } from "./client-load.ts";
import type { CallKind, ClientAnswer } from "./clients.ts";
import { PACED_TEXT } from "./wire-answers.ts";

function answerOf(body: string, status = 200): ClientAnswer {
  return {
    status,
    text: async () => body,
    read: async (onPiece) => {
      for (const line of body.split(/(?<=\n)/)) onPiece(Buffer.from(line));
    },
  };
}

async function tallyOf(kind: CallKind, answer: Promise<ClientAnswer>) {
  const tally = createClientTally(kind);
  await tally.count(answer);
  return tally.sum();
}

describe("createClientTally", () => {
  test("counts the answers of the upstream with their times", async () => {
    const whole = await tallyOf("whole", Promise.resolve(answerOf(WHOLE_BODY)));
    const stream = await tallyOf("stream", Promise.resolve(answerOf(PACED_TEXT)));
    expect(whole).toMatchObject({ answers: 1, faults: [], ms: { p50: whole.meanMs } });
    expect(stream).toMatchObject({ answers: 1, faults: [] });
    expect(stream.ms.p50).toBeLessThanOrEqual(stream.meanMs);
  });

  test.each<[string, CallKind, () => Promise<ClientAnswer>]>([
    ["another status", "whole", async () => answerOf(WHOLE_BODY, 503)],
    ["another body", "whole", async () => answerOf(WHOLE_BODY.slice(1))],
    ["a stream that was cut", "stream", async () => answerOf(PACED_TEXT.slice(0, -1))],
    ["a connection that broke", "stream", () => Promise.reject(new Error("ECONNRESET"))],
  ])("counts %s as a fault and not as an answer", async (_name, kind, answer) => {
    const { answers, faults } = await tallyOf(kind, answer());
    expect(answers).toBe(0);
    expect(faults).toHaveLength(1);
  });
});
