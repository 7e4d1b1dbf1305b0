import { describe, expect, test } from "bun:test";
import { NO_USAGE } from "../../../src/domain/usage.ts";
import { openaiEmbeddings } from "../../../src/wire/untranslated/embeddings.ts";
import { UpstreamFault } from "../../../src/wire/upstream-fault.ts";
import { hasRecordings, recordedBody } from "../../support/recordings.ts";

const requestOf = (input: unknown = "a") =>
  openaiEmbeddings.parseRequest(JSON.stringify({ model: "asked", input }));
const read = (text: string) => openaiEmbeddings.readWhole(requestOf(), text);
const bodyOf = (embedding: unknown, more: object = {}) =>
  JSON.stringify({ data: [{ object: "embedding", index: 0, embedding }], model: "theirs", ...more });

describe("readWhole", () => {
  test("changes only the bytes of the model's name", () => {
    const text =
      '{\n"object":"list", "data":[ {"embedding":[ 0.10, -1e-3],"index":0,"model":"inner"} ], "model" : "theirs","usage":{"prompt_tokens":3,"total_tokens":3} }\n';
    expect(read(text)).toEqual({
      text: text.replace('"theirs"', '"asked"'),
      isOutput: true,
      isReadable: true,
      generated: "",
      usage: { ...NO_USAGE, inputTokens: 3 },
    });
  });

  test.each([
    ["numbers", [0.5]],
    ["base64", "AAAAPw=="],
  ])("accepts a vector of %s", (_, embedding) => expect(read(bodyOf(embedding)).isReadable).toBe(true));

  test("accepts an empty list as not readable", () => {
    expect(read('{"object":"list","data":[],"usage":{"prompt_tokens":3}}')).toMatchObject({
      isReadable: false,
      usage: { inputTokens: 3 },
    });
  });

  test.each([
    ["HTML", "<html>canary</html>"],
    ["nothing", ""],
    ["JSON that is cut off", '{"data":[{"embedding":[0.1,'],
    ["a list", '["canary"]'],
    ["an error", '{"error":{"message":"canary"},"data":[]}'],
    ["an error of another kind", '{"error":"canary"}'],
    ["no data", '{"object":"list","canary":1}'],
    ["data that is not a list", '{"data":{"canary":1}}'],
    ["an entry that is not an object", '{"data":["canary"]}'],
    ["an entry without a vector", '{"data":[{"embedding":[1]},{"object":"canary"}]}'],
    ["a vector without numbers", bodyOf([])],
    ["an empty string", bodyOf("")],
    ["a vector that is an object", bodyOf({ canary: 1 })],
    ["unclosed brackets", `{"data":${"[".repeat(100_000)}`],
    ["millions of brackets", `{"data":${"[".repeat(5_000_000)}`],
    ["a vector of texts", bodyOf(["canary"])],
    ["a vector whose end is missing", '{"data":[{"embedding":[1}]}'],
    ["an entry whose end is missing", '{"data":[{"embedding":[1]]}'],
    ["a list whose end is missing", '{"data":[{"embedding":[1]},'],
    ["a list with nothing after a comma", '{"data":[{"embedding":[1]},]}'],
    ["an answer that is cut off after its vectors", '{"data":[{"embedding":[1]}],"usage":{'],
    ["an unterminated string", '{"data":[{"embedding":"canary'],
    [
      "more entries than any request asks for",
      `{"data":[${'{"embedding":[1]},'.repeat(200_000)}{"embedding":[1]}]}`,
    ],
    ["millions of lists", `{"data":[${"[],".repeat(4_200_000)}[]]}`],
  ])("throws an UpstreamFault without text of the upstream for %s", (_, text) => {
    expect(() => read(text)).toThrow(UpstreamFault);
    expect(() => read(text)).not.toThrow(/canary/);
  });

  test("accepts millions of numbers without parsing them", () => {
    const data = Array.from({ length: 1_000 }, () => `{"embedding":[${"1,".repeat(4_000)}1]}`).join();
    const frame = (model: string) => `{"data":[${data}],"model":"${model}","usage":{"prompt_tokens":3}}`;
    const reply = read(frame("theirs"));
    expect(reply.usage).toEqual({ ...NO_USAGE, inputTokens: 3 });
    expect(reply.text === frame("asked")).toBe(true);
  });

  test("accepts nested vectors, brackets in strings, and spaces anywhere", () => {
    const text =
      '{ "data" : [ { "x" : "]}" , "embedding" : [ [ 1 , 2 ] , [ 3 ] ] } , { "embedding" : " a]" } ] }';
    expect(read(text).text).toBe(`${text.slice(0, -2)},"model":"asked" }`);
  });

  test("passes the one list that it checked if `data` is repeated", () => {
    const { text } = read('{"data":[{"embedding":[1]}],"data":["canary"],"model":"theirs"}');
    expect(JSON.parse(text)).toEqual({ data: [{ embedding: [1] }], model: "asked" });
    expect(text).not.toContain("canary");
  });

  test.skipIf(!hasRecordings)("reads a recorded answer of OpenAI", () => {
    const text = recordedBody("openai/openai-embedding");
    expect(read(text)).toMatchObject({
      text: text.replace('"text-embedding-3-small"', '"asked"'),
      isReadable: true,
      usage: { ...NO_USAGE, inputTokens: 12 },
    });
  });
});

describe("usage", () => {
  test.each<[unknown, number]>([
    [{ prompt_tokens: 3, total_tokens: 3 }, 3],
    [{ prompt_tokens: 3, total_tokens: 9, completion_tokens: 6 }, 3],
    [{ total_tokens: 3 }, 3],
    [{ prompt_tokens: null, total_tokens: 3 }, 3],
    [{ prompt_tokens: "3", total_tokens: 3 }, 3],
    [{ prompt_tokens: 0 }, 0],
    [{ prompt_tokens: -1 }, -1],
  ])("of %j is %p input tokens and no output tokens", (usage, inputTokens) => {
    expect(read(bodyOf([1], { usage })).usage).toEqual({ ...NO_USAGE, inputTokens });
  });

  test.each([
    {},
    { usage: null },
    { usage: [] },
    { usage: {} },
    { usage: 7 },
    { usage: { prompt_tokens: "3" } },
  ])("is undefined for %j", (more) => expect(read(bodyOf([1], more)).usage).toBeUndefined());
});
