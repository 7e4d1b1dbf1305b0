import { expect, test } from "bun:test";
import { readBeginning } from "../../src/console/pages/playground/from-recording.ts";
import { imagesOf, readTools } from "../../src/console/pages/playground/messages.ts";

const recorded = (surface: string, body: unknown) =>
  readBeginning({
    surface,
    outcome: "ok",
    redacted: 0,
    answer: null,
    request: { text: JSON.stringify(body), length: 1, is_cut: false },
  });

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
  expect(readTools(found?.draft.tools ?? "")).toEqual([TOOL]);
});

test.each([["not JSON"], [[]], [{ messages: "x" }], [{ messages: [{ role: 1 }, null, { role: "user" }] }]])(
  "a body that is no conversation, %j, is read without a fault",
  (body) => {
    for (const surface of ["chat", "messages"]) expect(recorded(surface, body)?.given ?? []).toBeArray();
  },
);

test("tools that are typed in wrongly are named", () => {
  expect(readTools("")).toEqual([]);
  expect(readTools("{")).toStartWith("No JSON");
  expect(readTools('[{"name":"f"}]')).toStartWith("Each tool is");
});
