import { describe, expect, test } from "bun:test";
import { WIRES } from "../../../src/wire/registry.ts";
import { encodeAgentRequest, SESSION, sessionText, TURNS, USUAL_TURN } from "./conversation.ts";

const KB = 1_024;
const FORMATS = ["chat", "messages", "responses"] as const;

function bodyOf(format: (typeof FORMATS)[number], turn: number): string {
  return encodeAgentRequest({ format, model: "m", stream: false, turn });
}

describe.each(FORMATS)("the conversation in the format of %s", (format) => {
  test("grows from 20 to 400 KB, with 180 KB in between", () => {
    for (const [turn, kb] of [
      [1, 20],
      [USUAL_TURN, 178],
      [TURNS, 396],
    ] as const) {
      const bytes = Buffer.byteLength(bodyOf(format, turn));
      expect(Math.abs(bytes / KB - kb)).toBeLessThan(kb * 0.06);
    }
  });

  test("repeats in each request all messages of the request before", () => {
    const [before, after] = [bodyOf(format, 3), bodyOf(format, 4)].map((body) => {
      const { messages, input } = JSON.parse(body.replaceAll(/,"cache_control":\{[^}]*\}/g, ""));
      return messages ?? input;
    });
    expect(after.length).toBeGreaterThan(before.length);
    expect(after.slice(0, before.length)).toEqual(before);
  });

  test("has twenty tools, and is a request that the gateway accepts", () => {
    const body = bodyOf(format, TURNS);
    expect(JSON.parse(body).tools).toHaveLength(20);
    expect(WIRES[format].parseRequest(body).model).toBe("m");
  });

  test("is equal each time, but for the number of the conversation", () => {
    expect(bodyOf(format, 2)).toBe(bodyOf(format, 2));
    expect(bodyOf(format, 2)).toContain(SESSION);
    expect(sessionText(1_234_567)).toHaveLength(SESSION.length);
  });
});

test("text with arrows is beyond Latin-1 and as long as without", () => {
  const options = { format: "chat", model: "m", stream: false, turn: 5 } as const;
  const body = encodeAgentRequest({ ...options, hasArrows: true });
  expect(body).toContain("→");
  expect(body).toHaveLength(encodeAgentRequest(options).length);
});

test("Claude Code marks its rules and its last message for the cache", () => {
  const { system, messages } = JSON.parse(bodyOf("messages", 5));
  const marked = messages.filter((message: object) => JSON.stringify(message).includes("cache_control"));
  expect(system[0].cache_control).toEqual({ type: "ephemeral" });
  expect(marked).toEqual([messages.at(-1)]);
});
