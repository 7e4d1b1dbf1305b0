import { describe, expect, test } from "bun:test";
import { ERRORS, GatewayError } from "../../src/errors.ts";
import { anthropicMessages } from "../../src/wire/anthropic-messages/format.ts";
import { openaiChat } from "../../src/wire/openai-chat/format.ts";
import { leastCpuMs } from "../support/cpu-time.ts";
import { eventsOf } from "./play.ts";

// The cast is safe: the keys of the table are its causes.
const CAUSES = Object.keys(ERRORS) as (keyof typeof ERRORS)[];

describe("printError", () => {
  test.each(CAUSES)("case 14: prints %s in the envelope of each surface without its reason", (cause) => {
    const error = new GatewayError(cause, { reason: new Error("canary") });
    const row = ERRORS[cause];
    expect(JSON.parse(openaiChat.printError(error, "r1"))).toEqual({
      error: { message: row.message, type: row.chat[1], code: row.code },
    });
    expect(JSON.parse(anthropicMessages.printError(error, "r1"))).toEqual({
      type: "error",
      error: { type: row.messages[1], message: row.message, details: { error_code: row.code } },
      request_id: "r1",
    });
  });

  test("appends the path of a malformed field", () => {
    const error = new GatewayError("wrong_shape", { path: "messages[0].role" });
    expect(openaiChat.printError(error, "r1")).toContain("messages[0].role");
  });
});

describe("printErrorFrame", () => {
  const error = new GatewayError("upstream_timeout");

  test("prints one event of the surface that contains the error body", () => {
    expect(eventsOf(openaiChat.printErrorFrame(error, "r1"))).toEqual([
      { event: undefined, data: openaiChat.printError(error, "r1") },
    ]);
    expect(eventsOf(anthropicMessages.printErrorFrame(error, "r1"))).toEqual([
      { event: "error", data: anthropicMessages.printError(error, "r1") },
    ]);
  });
});

describe("keepAlive", () => {
  test("is a comment on chat and a ping on messages", () => {
    expect(openaiChat.keepAlive).toBe(": ping\n\n");
    expect(anthropicMessages.keepAlive).toBe('event: ping\ndata: {"type": "ping"}\n\n');
  });
});

describe("readPromptTooLong", () => {
  const chat = (message: string, code: string | null = null) =>
    openaiChat.readPromptTooLong(JSON.stringify({ error: { message, type: "invalid_request_error", code } }));
  const messages = (message: string) =>
    anthropicMessages.readPromptTooLong(
      JSON.stringify({ type: "error", error: { type: "invalid_request_error", message } }),
    );

  test.each<[string, number | undefined]>([
    [
      "This model's maximum context length is 128000 tokens. However, your messages resulted in 140321 tokens.",
      140_321,
    ],
    [
      "Input tokens exceed the configured limit of 272000 tokens. Your messages resulted in 300,001 tokens.",
      300_001,
    ],
    [
      "This model's maximum context length is 4096 tokens. However, you requested 5000 tokens (4500 in the messages, 500 in the completion).",
      4500,
    ],
    ["This model's maximum context length is 4096 tokens. However, you requested 5000 tokens.", 5000],
    [
      "This model's maximum context length is 4096 tokens. However, your request has 6000 input tokens.",
      6000,
    ],
    ["The maximum context length is exceeded.", undefined],
  ])("reads the tokens of %j", (message, tokens) => expect(chat(message)).toEqual({ tokens }));

  test("recognises OpenAI's error code without a known message", () =>
    expect(chat("Too much.", "context_length_exceeded")).toEqual({ tokens: undefined }));

  test("reads the tokens of Anthropic's message", () => {
    expect(messages("prompt is too long: 212384 tokens > 200000 maximum")).toEqual({ tokens: 212_384 });
    expect(messages("Prompt is too long")).toEqual({ tokens: undefined });
  });

  test("returns undefined for other errors", () => {
    for (const message of ["max_tokens: 999999 > 64000", "invalid role", ""]) {
      expect(chat(message)).toBeUndefined();
      expect(messages(message)).toBeUndefined();
    }
    expect(chat("<html>")).toBeUndefined();
  });

  test("reads an error body of megabytes in under 200 ms", () => {
    const text = `prompt is too long ${"9 ".repeat(2_000_000)}${"you requested ".repeat(100_000)}`;
    const read = () => {
      expect(openaiChat.readPromptTooLong(text)).toEqual({ tokens: undefined });
      expect(anthropicMessages.readPromptTooLong(text)).toEqual({ tokens: undefined });
    };
    expect(leastCpuMs(read)).toBeLessThan(200);
  });
});
