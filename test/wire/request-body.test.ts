import { describe, expect, test } from "bun:test";
import { anthropicMessages } from "../../src/wire/anthropic-messages/format.ts";
import type { WireFormat } from "../../src/wire/format.ts";
import { openaiChat } from "../../src/wire/openai-chat/format.ts";
import { openaiResponses } from "../../src/wire/openai-responses/format.ts";
import { parseBody } from "../../src/wire/request-body.ts";
import { openaiEmbeddings } from "../../src/wire/untranslated/embeddings.ts";
import { leastCpuMs } from "../support/cpu-time.ts";
import { errorOf } from "./play.ts";

const FIELDS = new Set(["model", "stream"]);

describe("parseBody", () => {
  test("takes less than 20 times as long as JSON.parse for a list of 340,000 numbers", () => {
    const text = JSON.stringify({ input: Array(340_000).fill(0) });
    const parseMs = leastCpuMs(() => JSON.parse(text));
    // Parsing blocks the event loop; copying such a list took a hundred times as long.
    expect(leastCpuMs(() => parseBody(text, FIELDS))).toBeLessThan(20 * parseMs);
  });

  test.each([
    ['{"a":1,"a":2}', true],
    ['{"a":[{"b":1,"b":2}]}', true],
    ['{"a":{"b":1},"c":[{"b":1},{"b":2}]}', false],
  ])("reports whether a key is repeated in %s", (text, repeatsKeys) => {
    expect(parseBody(text, FIELDS).repeatsKeys).toBe(repeatsKeys);
  });

  test.each([
    ["200,001 members", `{"model":"m","a":{${members(200_000)}}}`],
    ["200,001 members, of objects of one each", `{"model":"m","a":[${'{"k":1},'.repeat(200_000)}0]}`],
    ["350,001 values", `{"model":"m","a":[${"0,".repeat(350_001)}0]}`],
    ["a number of 1,025 digits", `{"model":"m","a":${"1".repeat(1_025)}}`],
    ["a fraction of 1,025 characters", `{"model":"m","a":[0.${"1".repeat(1_020)}E+5]}`],
    ["a key of 16,383 characters", `{"model":"m","${"k".repeat(16_383)}":1}`],
  ])("rejects %s before parsing", (_, text) => {
    expect(() => parseBody(text, FIELDS)).toThrow("wrong_shape");
    expect(() => parseBody(`${text.slice(0, -1)},`, FIELDS)).toThrow("wrong_shape");
  });

  test("accepts several times the structure of a thousand agent messages", () => {
    const call = { type: "tool_use", id: "toolu_1", name: "Edit", input: { path: "a", old: "b", new: "c" } };
    const block = { type: "text", text: "said", cache_control: { type: "ephemeral" } };
    const message = { role: "assistant", content: [block, block, call, call] };
    const text = JSON.stringify({ model: "m", messages: Array(5_000).fill(message) });
    expect(parseBody(text, FIELDS).repeatsKeys).toBe(false);
    const long = `{"model":"m","a":${"1".repeat(1_024)},"b":"${"1".repeat(2_000_000)}","${"k".repeat(16_382)}":1}`;
    expect(parseBody(long, FIELDS).repeatsKeys).toBe(false);
  });

  test("throws not_json for invalid JSON with words of any length", () => {
    expect(() => parseBody("x".repeat(100_000), FIELDS)).toThrow("not_json");
    expect(() => parseBody(`[${"x".repeat(100_000)}]`, FIELDS)).toThrow("not_json");
  });

  test("accepts keys that differ from every field in more than case, and the fields themselves", () => {
    const text = '{"model":"m","stream":true,"models":1,"":1,"Metadata":{"Model":1}}';
    expect(parseBody(text, FIELDS).body.model).toBe("m");
  });
});

describe("a field spelled in another case", () => {
  // Case-insensitive readers take "ſ" for "s" and the Kelvin sign for "k".
  test.each<[WireFormat, object, readonly string[]]>([
    [
      openaiChat,
      { messages: [{ role: "user", content: "hi" }] },
      ["MODEL", "Max_Tokens", "max_completion_To\u212Aens", "N", "Stream", "Models", "Messages", "Plugins"],
    ],
    [
      anthropicMessages,
      { messages: [{ role: "user", content: "hi" }], max_tokens: 9 },
      ["Model", "MAX_TOKENS", "\u017Fpeed", "Inference_Geo", "System", "MCP_servers"],
    ],
    [
      openaiResponses,
      { input: "hi" },
      ["mOdel", "Store", "\u017Ftore", "PREVIOUS_RESPONSE_ID", "Conversation", "Max_Output_Tokens", "Input"],
    ],
    [openaiEmbeddings, { input: "hi" }, ["MODEL", "Input", "Stream", "Dimensions"]],
  ])("is rejected with wrong_shape (format %#)", (wire, body, keys) => {
    for (const key of keys) {
      const error = errorOf(wire, { model: "m", ...body, [key]: null });
      expect([error.kind, error.publicMessage.split(": ").at(-1)]).toEqual(["wrong_shape", key]);
    }
  });
});

function members(count: number): string {
  return Array.from({ length: count }, (_, index) => `"k${index}":1`).join(",");
}
