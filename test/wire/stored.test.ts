import { describe, expect, test } from "bun:test";
import { printCountRequest } from "../../src/wire/anthropic-messages/count-tokens.ts";
import { WIRES } from "../../src/wire/registry.ts";
import { errorOf } from "./play.ts";

const MESSAGES = [{ role: "user", content: "hi" }];
const ASK = { model: "m", max_tokens: 100, messages: MESSAGES };
const UPSTREAM = { model: "up", outputTokensMax: 50, outputLimitField: undefined };

const print = (body: string) =>
  WIRES.messages.printUpstreamRequest(WIRES.messages.parseRequest(body), UPSTREAM);

describe("a messages body that refers to data stored at the provider", () => {
  test.each<[path: string, members: object]>([
    ["thread", { thread: { type: "continue", previous_message_id: "msg_1" } }],
    ["thread", { thread: { type: "continue", previous_message_id: "msg_1" }, messages: [] }],
    ["thread", { thread: { type: "create", previous_message_id: "msg_1" } }],
    ["thread", { thread: { Type: "continue", Previous_Message_Id: "msg_1" } }],
    ["thread", { thread: { type: "fork" } }],
    ["thread", { thread: "th_1" }],
    ["thread", { thread: ["th_1"] }],
    ["thread", { thread: false }],
    ["container", { container: "container_1" }],
    ["container", { container: { id: "container_1", skills: [] } }],
    ["container", { container: { ID: "container_1" } }],
    ["container", { container: ["container_1"] }],
    ["previous_message_id", { previous_message_id: "msg_1" }],
  ])("is rejected with the path %s: %j", (path, members) => {
    const error = errorOf(WIRES.messages, { ...ASK, ...members });
    expect(error.row.code).toBe("invalid_request");
    expect(WIRES.messages.statusOf(error)).toBe(400);
    expect(error.publicMessage).toStartWith("Nothing is stored here");
    expect(error.publicMessage).toEndWith(`: ${path}`);
  });

  test("is rejected if it repeats a key inside a container", () => {
    const text = `{"container":{"id":"container_1","id":null},${JSON.stringify(ASK).slice(1)}`;
    expect(errorOf(WIRES.messages, text).kind).toBe("nothing_stored");
  });

  test("is accepted if the reference is null or creates something new", () => {
    const skill = { type: "anthropic", skill_id: "pptx", version: "latest" };
    for (const members of [
      { thread: null, container: null, previous_message_id: null },
      { thread: { type: "create" } },
      { thread: { id: "x" } },
      { container: { id: null, skills: [skill] } },
    ]) {
      expect(() => WIRES.messages.parseRequest(JSON.stringify({ ...ASK, ...members }))).not.toThrow();
    }
  });
});

describe("a body that creates a thread", () => {
  const withThread = JSON.stringify({ ...ASK, thread: { type: "create" } });

  test("is printed without the thread and otherwise unchanged", () => {
    expect(print(withThread)).toBe(print(JSON.stringify(ASK)));
    const request = WIRES.messages.parseRequest(withThread);
    expect(printCountRequest(request, { model: "m" })).toBe(JSON.stringify(ASK));
  });

  test("is printed without the thread if the key is repeated", () => {
    const twice = withThread.replace(
      '"thread"',
      '"thread":{"type":"continue","previous_message_id":"m"},"thread"',
    );
    expect(print(twice)).not.toContain("thread");
    const inside = withThread.replace('{"type":"create"}', '{"type":"continue","type":"create"}');
    expect(print(inside)).not.toContain("thread");
  });

  test("has a bounded input", () =>
    expect(WIRES.messages.parseRequest(withThread).input.unbounded).toBe(false));

  test("is translated like a body without a thread", () => {
    const request = WIRES.messages.parseRequest(withThread);
    expect(request.readChat()).toEqual(WIRES.messages.parseRequest(JSON.stringify(ASK)).readChat());
  });
});

describe("a chat or responses body that refers to data stored at the provider", () => {
  test.each<[format: "chat" | "responses", path: string, members: object]>([
    ["chat", "session_params", { session_params: { id: "s" } }],
    ["chat", "data_sources", { data_sources: [{ type: "azure_search", parameters: {} }] }],
    ["chat", "dataSources", { dataSources: [{ type: "AzureCognitiveSearch" }] }],
    [
      "chat",
      "extra_body.google.cached_content",
      { extra_body: { google: { cached_content: "cachedContents/1" } } },
    ],
    ["responses", "tools[0].container", { tools: [{ type: "code_interpreter", container: "cntr_1" }] }],
    [
      "responses",
      "tools[1].environment.container_id",
      {
        tools: [
          { type: "web_search" },
          { type: "shell", environment: { type: "container_reference", container_id: "cntr_1" } },
        ],
      },
    ],
    [
      "responses",
      "input[0].tools[0].container",
      { input: [{ type: "additional_tools", tools: [{ type: "code_interpreter", container: "cntr_1" }] }] },
    ],
  ])("is rejected in %s with the path %s", (format, path, members) => {
    const error = errorOf(WIRES[format], { ...ASK, input: "hi", ...members });
    expect(error.kind).toBe("nothing_stored");
    expect(error.publicMessage).toEndWith(`: ${path}`);
  });
});

describe("context management at the provider", () => {
  test.each<[format: "messages" | "responses", members: object]>([
    ["messages", { compaction: { type: "summarize" } }],
    ["messages", { context_management: { edits: [{ type: "compact_20260112" }] } }],
    ["responses", { context_management: [{ type: "compaction" }] }],
  ])("counts two readings of the prompt if it compacts: %s %j", (format, members) => {
    const request = WIRES[format].parseRequest(JSON.stringify({ ...ASK, input: "hi", ...members }));
    expect(request.input.readings).toBe(2);
  });

  test("counts one reading of the prompt if it only clears tool uses", () => {
    const context_management = { edits: [{ type: "clear_tool_uses_20250919" }] };
    const request = WIRES.messages.parseRequest(JSON.stringify({ ...ASK, context_management }));
    expect(request.input.readings).toBe(1);
  });
});
