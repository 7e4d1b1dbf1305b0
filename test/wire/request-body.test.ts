import { describe, expect, test } from "bun:test";
import { anthropicMessages } from "../../src/wire/anthropic-messages/protocol.ts";
import { openaiChat } from "../../src/wire/openai-chat/protocol.ts";
import { openaiEmbeddings } from "../../src/wire/openai-embeddings/protocol.ts";
import { openaiResponses } from "../../src/wire/openai-responses/protocol.ts";
import type { WireProtocol } from "../../src/wire/protocol.ts";
import { parseBody } from "../../src/wire/request-body.ts";
import { leastCpuMs } from "../support/cpu-time.ts";
import { refusalOf } from "./play.ts";

const FIELDS = new Set(["model", "stream"]);

describe("parseBody", () => {
  test("takes no more than a small multiple of JSON.parse for a list of 340,000 numbers", () => {
    const text = JSON.stringify({ input: Array(340_000).fill(0) });
    const parseMs = leastCpuMs(() => JSON.parse(text));
    // Everyone else waits while a body is looked at; copying such a list took a hundred times this.
    expect(leastCpuMs(() => parseBody(text, FIELDS))).toBeLessThan(20 * parseMs);
  });

  test.each([
    ['{"a":1,"a":2}', true],
    ['{"a":[{"b":1,"b":2}]}', true],
    ['{"a":{"b":1},"c":[{"b":1},{"b":2}]}', false],
  ])("sees whether a key is named twice in %s", (text, repeatsKeys) => {
    expect(parseBody(text, FIELDS).repeatsKeys).toBe(repeatsKeys);
  });

  test.each([
    ["200,001 members", `{"model":"m","a":{${members(200_000)}}}`],
    ["200,001 members, of objects of one each", `{"model":"m","a":[${'{"k":1},'.repeat(200_000)}0]}`],
    ["350,001 values", `{"model":"m","a":[${"0,".repeat(350_001)}0]}`],
    ["a number of 1,025 digits", `{"model":"m","a":${"1".repeat(1_025)}}`],
    ["a fraction of 1,025 characters", `{"model":"m","a":[0.${"1".repeat(1_020)}E+5]}`],
    ["a key of 16,383 characters", `{"model":"m","${"k".repeat(16_383)}":1}`],
  ])("refuses %s before they are parsed", (_, text) => {
    expect(() => parseBody(text, FIELDS)).toThrow("wrong_shape");
    expect(() => parseBody(`${text.slice(0, -1)},`, FIELDS)).toThrow("wrong_shape");
  });

  test("takes as much structure as a thousand messages of an agent have, several times over", () => {
    const call = { type: "tool_use", id: "toolu_1", name: "Edit", input: { path: "a", old: "b", new: "c" } };
    const block = { type: "text", text: "said", cache_control: { type: "ephemeral" } };
    const message = { role: "assistant", content: [block, block, call, call] };
    const text = JSON.stringify({ model: "m", messages: Array(5_000).fill(message) });
    expect(parseBody(text, FIELDS).repeatsKeys).toBe(false);
    const long = `{"model":"m","a":${"1".repeat(1_024)},"b":"${"1".repeat(2_000_000)}","${"k".repeat(16_382)}":1}`;
    expect(parseBody(long, FIELDS).repeatsKeys).toBe(false);
  });

  test("says of a text that is no JSON that it is none, however long its words are", () => {
    expect(() => parseBody("x".repeat(100_000), FIELDS)).toThrow("not_json");
    expect(() => parseBody(`[${"x".repeat(100_000)}]`, FIELDS)).toThrow("not_json");
  });

  test("takes keys that are near no field, or a field's own", () => {
    const text = '{"model":"m","stream":true,"models":1,"":1,"Metadata":{"Model":1}}';
    expect(parseBody(text, FIELDS).body.model).toBe("m");
  });
});

describe("a field in other letters", () => {
  // A reader without regard to case takes the long s for an s, and the Kelvin sign for a k.
  test.each<[WireProtocol, object, readonly string[]]>([
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
  ])("is a wrong shape", (wire, body, keys) => {
    for (const key of keys) {
      const error = refusalOf(wire, { model: "m", ...body, [key]: null });
      expect([error.kind, error.publicMessage.split(": ").at(-1)]).toEqual(["wrong_shape", key]);
    }
  });
});

function members(count: number): string {
  return Array.from({ length: count }, (_, index) => `"k${index}":1`).join(",");
}
