import { expect, test } from "bun:test";
import type { Surface } from "../../src/domain/model.ts";
import { ResponseReader } from "../../src/wire/reply-part.ts";

function factsOf(surface: Surface, ...texts: readonly (string | object)[]) {
  const reader = new ResponseReader(surface);
  for (const text of texts) reader.read(typeof text === "string" ? text : JSON.stringify(text));
  return reader.facts();
}

test("an answer of Gemini has its id, the version that answered and the reason of its end", () => {
  const chunk = { responseId: "r1", modelVersion: "gemini-2.5-flash", candidates: [{ content: {} }] };
  const last = { ...chunk, candidates: [{ finishReason: "MAX_TOKENS" }] };
  const facts = { responseId: "r1", responseModel: "gemini-2.5-flash", finishReasons: ["MAX_TOKENS"] };
  expect(factsOf("gemini", chunk, last)).toEqual(facts);
});

test("an answer of Converse, which names no model, has the reason of its end alone", () => {
  expect(factsOf("converse", { output: {}, stopReason: "end_turn" })).toEqual({
    finishReasons: ["end_turn"],
  });
});

test("a response has the reason that it is incomplete for, and else its final status", () => {
  const begun = { type: "response.created", response: { id: "resp_1", model: "m", status: "in_progress" } };
  const cut = {
    id: "resp_1",
    model: "m",
    status: "incomplete",
    incomplete_details: { reason: "max_output_tokens" },
  };
  expect(factsOf("responses", begun).finishReasons).toBeUndefined();
  expect(
    factsOf("responses", begun, { response: { ...cut, incomplete_details: null, status: "completed" } }),
  ).toEqual({
    responseId: "resp_1",
    responseModel: "m",
    finishReasons: ["completed"],
  });
  expect(factsOf("responses", cut).finishReasons).toEqual(["max_output_tokens"]);
});

test("each choice of a chat has one reason, also when its host repeats the finish", () => {
  const choice = (index: number, finish_reason: string | null) => ({ choices: [{ index, finish_reason }] });
  const chunks = [choice(0, null), choice(1, "length"), choice(0, "stop"), choice(0, "stop"), "[DONE]"];
  expect(factsOf("chat", ...chunks).finishReasons).toEqual(["length", "stop"]);
});

test("embeddings have their model, without their millions of numbers being parsed", () => {
  const data = `[${Array.from({ length: 50 }, () => `{"embedding":[${"0.1,".repeat(3_000)}0]}`).join()}]`;
  expect(factsOf("embeddings", `{"data":${data},"model":"e-small"}`).responseModel).toBe("e-small");
});

test("an upstream that repeats a prompt or sends megabytes in these members says nothing", () => {
  const prose = {
    id: "Dear Dana, your code is 4711",
    model: "m".repeat(1_000_000),
    choices: [{ finish_reason: 1 }],
  };
  expect(factsOf("chat", prose)).toEqual({});
  const many = Array.from({ length: 5_000 }, (_, index) => ({ index, finish_reason: "stop" }));
  expect(factsOf("chat", { choices: many }).finishReasons).toHaveLength(128);
  expect(factsOf("chat", '{"id":"a', '{"choices":[{"finish_reason":"stop"', "{", "[]", "")).toEqual({
    finishReasons: ["stop"],
  });
});
