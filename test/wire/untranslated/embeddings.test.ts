import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { openaiEmbeddings } from "../../../src/wire/untranslated/embeddings.ts";
import { errorOf } from "../play.ts";

const parse = (members: object) => openaiEmbeddings.parseRequest(JSON.stringify({ model: "m", ...members }));
const sent = (text: string) =>
  openaiEmbeddings.printUpstreamRequest(openaiEmbeddings.parseRequest(text), {
    model: "theirs",
    outputTokensMax: 0,
    outputLimitField: undefined,
  });

describe("parseRequest", () => {
  test.each<[string, unknown, object, string]>([
    ["a text", "one two", { prompts: 1, tokenIds: 0 }, "one two"],
    ["texts", ["one", "two", " "], { prompts: 3, tokenIds: 0 }, "one two  "],
    ["token ids", [0, 15_339, 100_257], { prompts: 1, tokenIds: 3 }, ""],
    ["lists of token ids", [[1], [2, 3, 4]], { prompts: 2, tokenIds: 4 }, ""],
  ])("accepts %s", (_, input, size, promptText) => {
    const request = parse({ input });
    expect(request).toMatchObject({ model: "m", stream: false, outputTokensMax: 0, choices: 1 });
    expect(request.input).toMatchObject({ ...size, images: 0, unbounded: false });
    expect(request.promptText()).toBe(promptText);
  });

  test.each([
    { encoding_format: "float" },
    { encoding_format: "base64", dimensions: 256, user: "u" },
    { encoding_format: null, dimensions: null, user: null },
    { stream: "whatever", input_type: "query", unknown: { deep: [1] } },
  ])("accepts the options %j", (members) => {
    expect(parse({ input: "a", ...members }).outputTokensMax).toBe(0);
  });

  test("accepts 2,048 prompts and rejects 2,049", () => {
    for (const prompt of ["a", [1]]) {
      const prompts = Array.from({ length: 2_048 }, () => prompt);
      expect(parse({ input: prompts }).input.prompts).toBe(2_048);
      const refusal = errorOf(openaiEmbeddings, { model: "m", input: [...prompts, prompt] });
      expect(refusal.publicMessage).toEndWith(": input");
    }
  });

  test.each<[object, string]>([
    [{}, "input"],
    [{ input: null }, "input"],
    [{ input: "" }, "input"],
    [{ input: [] }, "input"],
    [{ input: {} }, "input"],
    [{ input: 7 }, "input"],
    [{ input: ["a", ""] }, "input[1]"],
    [{ input: ["a", 1] }, "input[1]"],
    [{ input: ["a", null] }, "input[1]"],
    [{ input: [1, "a"] }, "input[1]"],
    [{ input: [1, -1] }, "input[1]"],
    [{ input: [1, 0.5] }, "input[1]"],
    [{ input: [1, [2]] }, "input[1]"],
    [{ input: [1, 9e15, 1e16] }, "input[2]"],
    [{ input: [[1], []] }, "input[1]"],
    [{ input: [[1], "a"] }, "input[1]"],
    [{ input: [[1], [2, "a"]] }, "input[1][1]"],
    [{ input: [[[1]]] }, "input[0][0]"],
    [{ input: [{ text: "a" }] }, "input[0]"],
    [{ input: [null] }, "input[0]"],
    [{ input: "a", model: "" }, "model"],
    [{ input: "a", encoding_format: "int8" }, "encoding_format"],
    [{ input: "a", encoding_format: ["float"] }, "encoding_format"],
    [{ input: "a", dimensions: 0 }, "dimensions"],
    [{ input: "a", dimensions: 1.5 }, "dimensions"],
    [{ input: "a", dimensions: "64" }, "dimensions"],
    [{ input: "a", user: 7 }, "user"],
  ])("rejects %j with the path %s", (members, path) => {
    const refusal = errorOf(openaiEmbeddings, { model: "m", ...members });
    expect(refusal).toMatchObject({ kind: "wrong_shape" });
    expect(refusal.publicMessage).toEndWith(`: ${path}`);
  });

  test("rejects invalid JSON, anything but an object, and fields that change the price", () => {
    expect(errorOf(openaiEmbeddings, "{").kind).toBe("not_json");
    expect(errorOf(openaiEmbeddings, "[]").kind).toBe("wrong_shape");
    const dear = { model: "m", input: "a", service_tier: "priority" };
    expect(errorOf(openaiEmbeddings, dear).kind).toBe("unpriced_field");
  });

  test("rejects millions of unclosed brackets quickly", () => {
    for (const text of [
      `{"model":"m","input":${"[".repeat(5_000_000)}`,
      `{"input":[${"[],".repeat(2_000_000)}[]]}`,
    ]) {
      expect(errorOf(openaiEmbeddings, text).row.code).toBe("invalid_request");
    }
  });

  test("counts at most half as many token ids as bytes of the body", () => {
    const ids = fc.array(fc.nat(9), { minLength: 1, maxLength: 50 });
    fc.assert(
      fc.property(fc.oneof(ids, fc.array(ids, { minLength: 1, maxLength: 9 })), (input) => {
        const { textBytes, tokenIds = 0 } = parse({ input }).input;
        expect(Math.ceil(textBytes / 2)).toBeGreaterThanOrEqual(tokenIds);
      }),
    );
  });
});

describe("printUpstreamRequest", () => {
  test("changes only the bytes of the model's name", () => {
    const text =
      '{ "input":[ "caf\\u00e9", "\\/" ],"dimensions" : 1e2, "model": "m",\n"encoding_format":"base64","input_type":"query","seed":12345678901234567890 }';
    expect(sent(text)).toBe(text.replace('"m"', '"theirs"'));
  });

  test("omits `stream`", () =>
    expect(sent('{"model":"m","stream":true,"input":"a"}')).toBe('{"model":"theirs","input":"a"}'));

  test("writes repeated fields once, with the value that was checked", () => {
    const text = '{"input":["dear","er"],"model":"x","model":"m","input":"a"}';
    expect(JSON.parse(sent(text))).toEqual({ model: "theirs", input: "a" });
    expect(sent(text)).not.toContain("dear");
  });
});
