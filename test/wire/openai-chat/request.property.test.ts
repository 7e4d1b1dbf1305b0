import { expect, test } from "bun:test";
import fc from "fast-check";
import type { ChatRequest } from "../../../src/domain/chat-request.ts";
import { printRequest } from "../../../src/wire/openai-chat/egress/print-request.ts";
import { readChatRequest } from "../../../src/wire/openai-chat/ingress/read-request.ts";

const anyText = fc.string({ minLength: 1, maxLength: 20, unit: "binary" });
const word = fc.stringMatching(/^[a-z_]{1,12}$/);
const base64 = fc.constantFrom("aGk=", "JVBERi0x", "");
const input = fc
  .dictionary(anyText, fc.jsonValue({ maxDepth: 2 }), { maxKeys: 3 })
  .map((it) => JSON.stringify(it));

const textPart = anyText.map((text) => ({ type: "text", text }));
const imagePart = fc.record({
  type: fc.constant("image_url"),
  image_url: fc.record(
    {
      url: fc.oneof(
        fc
          .tuple(fc.constantFrom("png", "jpeg", "svg+xml"), base64)
          .map(([type, data]) => `data:image/${type};base64,${data}`),
        fc.webUrl(),
      ),
      detail: fc.constantFrom("low", "high", "auto"),
    },
    { requiredKeys: ["url"] },
  ),
});
const filePart = fc.record({
  type: fc.constant("file"),
  file: fc.record({
    filename: word.map((name) => `${name}.pdf`),
    file_data: base64.map((data) => `data:application/pdf;base64,${data}`),
  }),
});
/** Several texts alone are read back as one: not every host accepts a list of texts. */
const content = fc.oneof(
  fc.oneof(anyText, fc.constant("")),
  fc
    .tuple(fc.oneof(imagePart, filePart), fc.array(fc.oneof(textPart, imagePart, filePart), { maxLength: 3 }))
    .map(([first, others]) => [first, ...others]),
);

const user = fc.record({ role: fc.constant("user"), content });
const system = fc.record({ role: fc.constant("system"), content: anyText });
const assistant = fc.record({ role: fc.constant("assistant"), content: fc.oneof(anyText, fc.constant("")) });
/** An assistant's calls directly followed by their results. */
const toolRound = fc
  .tuple(fc.option(anyText), fc.array(fc.tuple(word, input, anyText), { minLength: 1, maxLength: 3 }))
  .map(([content, calls]) => [
    {
      role: "assistant",
      content,
      tool_calls: calls.map(([name, json], index) => ({
        id: `call_${index}`,
        type: "function",
        function: { name, arguments: json },
      })),
    },
    ...calls.map(([, , given], index) => ({ role: "tool", tool_call_id: `call_${index}`, content: given })),
  ]);
const messages = fc
  .tuple(
    fc.option(system, { nil: undefined }),
    user,
    fc.array(
      fc.oneof(
        user.map((it) => [it]),
        assistant.map((it) => [it]),
        toolRound,
      ),
      { maxLength: 5 },
    ),
    fc.option(fc.tuple(system, user)),
  )
  .map(([first, second, others, late]) => [
    ...(first ? [first] : []),
    second,
    ...others.flat(),
    ...(late ?? []),
  ]);

const schema = fc.constantFrom(
  { type: "object", properties: {} },
  { type: "object", properties: { a: { type: "string" } }, required: ["a"], additionalProperties: false },
);
const closed = { type: "object", properties: {}, additionalProperties: false };
const tool = fc.record({
  type: fc.constant("function"),
  function: fc.oneof(
    fc.record({ name: word, description: anyText, parameters: schema }, { requiredKeys: ["name"] }),
    fc.record({ name: word, parameters: fc.constant(closed), strict: fc.boolean() }),
  ),
});
const settings = fc.record(
  {
    tools: fc.array(tool, { maxLength: 3 }),
    tool_choice: fc.oneof(
      fc.constantFrom("auto", "none", "required"),
      word.map((name) => ({ type: "function", function: { name } })),
    ),
    parallel_tool_calls: fc.boolean(),
    reasoning_effort: fc.constantFrom("none", "minimal", "low", "medium", "high", "xhigh"),
    response_format: fc.constantFrom(
      { type: "text" },
      { type: "json_object" },
      { type: "json_schema", json_schema: { name: "a", description: "b", schema: closed, strict: true } },
      { type: "json_schema", json_schema: { name: "a", schema: { type: "object" }, strict: false } },
    ),
    stop: fc.oneof(anyText, fc.array(anyText, { maxLength: 4 })),
    temperature: fc.double({ min: 0, max: 2, noNaN: true }),
    top_p: fc.double({ min: 0, max: 1, noNaN: true }),
    user: word.filter((name) => /[a-z]/i.test(name)),
  },
  { requiredKeys: [] },
);

/** Returns a request without paths, which depend on the body's layout and not on its meaning. */
function meaningOf(chat: ChatRequest): unknown {
  return JSON.parse(JSON.stringify(chat, (key, value) => (key === "path" ? undefined : value)));
}

test("a body that is read and printed is read back to an equal request", () => {
  fc.assert(
    fc.property(messages, settings, fc.boolean(), (list, set, stream) => {
      const chat = readChatRequest({ model: "m", messages: list, ...set });
      const printed = printRequest(chat, {
        model: "m",
        outputTokensMax: 100,
        outputLimitField: undefined,
        stream,
        traits: { reasoning: "effort", sampling: true },
      });
      expect(meaningOf(readChatRequest(JSON.parse(printed)))).toEqual(meaningOf(chat));
    }),
    { numRuns: 100, seed: 6 },
  );
});

test("every body is read or rejected", () => {
  const anything = fc.jsonValue({ maxDepth: 3 });
  const part = fc.record(
    {
      type: fc.constantFrom("text", "image_url", "file", "refusal", "thinking"),
      text: anything,
      image_url: anything,
      file: anything,
      cache_control: anything,
    },
    { requiredKeys: ["type"] },
  );
  const message = fc.record(
    {
      role: fc.constantFrom("system", "user", "assistant", "tool", "function"),
      content: fc.oneof(fc.string(), fc.array(fc.oneof(part, anything), { maxLength: 3 })),
      tool_calls: anything,
      function_call: anything,
      tool_call_id: anything,
      reasoning_details: anything,
    },
    { requiredKeys: ["role"] },
  );
  const body = fc.record(
    {
      messages: fc.array(message, { minLength: 1, maxLength: 3 }),
      tools: fc.oneof(fc.array(anything, { maxLength: 2 }), anything),
      tool_choice: anything,
      response_format: anything,
      reasoning: anything,
      stop: anything,
    },
    { requiredKeys: ["messages"] },
  );
  fc.assert(
    fc.property(body, (members) => {
      try {
        readChatRequest(JSON.parse(JSON.stringify(members)));
      } catch (error) {
        expect(error).toMatchObject({ name: "GatewayError" });
        expect(["wrong_shape", "untranslatable"]).toContain((error as { kind: string }).kind);
      }
    }),
    { numRuns: 200, seed: 6 },
  );
});
