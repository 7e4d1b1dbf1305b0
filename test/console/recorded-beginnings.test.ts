import { expect, test } from "bun:test";
import { readBeginning } from "../../src/console/pages/playground/from-recording.ts";
import { imagesOf, readTools } from "../../src/console/pages/playground/messages.ts";
import { printConversation } from "../../src/http/console/recordings/conversation.ts";

const recorded = (surface: string, body: unknown, isCut = false) => {
  const request = { text: JSON.stringify(body), length: 1, isCut };
  const content = { surface, outcome: "ok", redacted: 0, answer: undefined, request };
  return readBeginning({ conversation: printConversation(content) });
};

const TOOL = {
  type: "function",
  function: { name: "f", description: "d", parameters: { type: "object" } },
} as const;
const CALL = { id: "t", type: "function", function: { name: "f", arguments: '{"a":1}' } } as const;

test("a chat becomes a question with its messages, tools and settings", () => {
  const found = recorded("chat", {
    model: "m",
    max_tokens: 9,
    tools: [TOOL],
    messages: [
      { role: "developer", content: "Be short." },
      {
        role: "user",
        content: [
          { type: "text", text: "Look" },
          { type: "image_url", image_url: { url: "[image/png, 9 characters of base64]" } },
        ],
      },
      { role: "assistant", content: null, tool_calls: [CALL] },
      { role: "tool", tool_call_id: "t", content: "sunny" },
      { role: "user", content: "And now?" },
    ],
  });
  expect(found).toMatchObject({
    model: "m",
    draft: { system: "Be short.", prompt: "And now?", max_tokens: "9", temperature: "" },
    given: [
      { role: "user", content: "Look\n[image/png, 9 characters of base64]" },
      { role: "assistant", content: null, tool_calls: [CALL] },
      { role: "tool", tool_call_id: "t", content: "sunny" },
    ],
  });
  expect(readTools(found?.draft.tools ?? "")).toEqual([TOOL]);
});

test("a body in Anthropic's form becomes the same conversation", () => {
  const source = { type: "base64", media_type: "image/png", data: "iVBOR" };
  const found = recorded("messages", {
    model: "m",
    max_tokens: 9,
    system: [{ type: "text", text: "Be short." }],
    tools: [{ name: "f", description: "d", input_schema: { type: "object" } }],
    messages: [
      {
        role: "user",
        content: [
          { type: "image", source },
          { type: "text", text: "Look" },
        ],
      },
      { role: "assistant", content: [{ type: "tool_use", id: "t", name: "f", input: { a: 1 } }] },
      {
        role: "user",
        content: [
          { type: "tool_result", tool_use_id: "t", content: "sunny" },
          { type: "text", text: "And now?" },
        ],
      },
    ],
  });
  expect(found?.draft).toMatchObject({ system: "Be short.", prompt: "And now?" });
  expect(found?.given.map(({ role }) => role)).toEqual(["user", "assistant", "tool"]);
  expect(imagesOf(found?.given[0])).toEqual(["data:image/png;base64,iVBOR"]);
  expect(found?.given[1]).toEqual({ role: "assistant", content: null, tool_calls: [CALL] });
  expect(readTools(found?.draft.tools ?? "")).toMatchObject([TOOL]);
});

const DROPPED = "[image/png, 711 characters of base64]";
const THEIRS = { type: "object", properties: {} };
test.each<[string, object]>([
  [
    "responses",
    {
      model: "m",
      instructions: "Be short.",
      max_output_tokens: 9,
      input: [
        { role: "user", content: [{ type: "input_image", image_url: DROPPED }] },
        { type: "function_call", call_id: "t", name: "f", arguments: '{"a":1}' },
        { type: "function_call_output", call_id: "t", output: "sunny" },
        { role: "user", content: "And now?" },
      ],
      tools: [{ type: "function", name: "f", description: "d", parameters: THEIRS, strict: false }],
    },
  ],
  [
    "gemini",
    {
      model: "m",
      systemInstruction: { parts: [{ text: "Be short." }] },
      generationConfig: { maxOutputTokens: 9 },
      contents: [
        { role: "user", parts: [{ inlineData: { mimeType: "image/png", data: DROPPED } }] },
        { role: "model", parts: [{ functionCall: { id: "t", name: "f", args: { a: 1 } } }] },
        {
          role: "user",
          parts: [
            { functionResponse: { id: "t", name: "f", response: { output: "sunny" } } },
            { text: "And now?" },
          ],
        },
      ],
      tools: [{ functionDeclarations: [{ name: "f", description: "d", parameters: { type: "OBJECT" } }] }],
    },
  ],
])("a body in the form of %s becomes the same conversation, whose image was not kept", (surface, body) => {
  const found = recorded(surface, body);
  expect(found?.model).toBe("m");
  expect(found?.draft).toMatchObject({ system: "Be short.", prompt: "And now?", max_tokens: "9" });
  expect(found?.given.map(({ role }) => role)).toEqual(["user", "assistant", "tool"]);
  expect(found?.given[0]?.content).toBe(DROPPED);
  expect(readTools(found?.draft.tools ?? "")).toMatchObject([{ function: { name: "f", description: "d" } }]);
  expect(recorded(surface, body, true)).toBeUndefined();
});

test("what an earlier response begins, and what a chat cannot express, is no conversation", () => {
  const asked = { model: "m", input: "And now?" };
  expect(recorded("responses", asked)?.draft.prompt).toBe("And now?");
  expect(recorded("responses", { ...asked, previous_response_id: "resp_1" })).toBeUndefined();
  expect(recorded("responses", { ...asked, conversation: "conv_1" })).toBeUndefined();
  expect(recorded("responses", { ...asked, top_logprobs: 2 })).toBeUndefined();
  expect(recorded("responses", { ...asked, tools: [{ type: "web_search" }] })?.draft.tools).toBe("");
});

test.each([["not JSON"], [[]], [{ messages: "x" }], [{ messages: [{ role: 1 }, null, { role: "user" }] }]])(
  "a body that is no conversation, %j, is read without a fault",
  (body) => {
    for (const surface of ["chat", "messages", "responses", "gemini", "images"])
      expect(recorded(surface, body)?.given ?? []).toBeArray();
  },
);

test("tools that are typed in wrongly are named", () => {
  expect(readTools("")).toEqual([]);
  expect(readTools("{")).toStartWith("No JSON");
  expect(readTools('[{"name":"f"}]')).toStartWith("Each tool is");
});
