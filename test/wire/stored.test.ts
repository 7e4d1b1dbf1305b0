import { describe, expect, test } from "bun:test";
import { printCountRequest } from "../../src/wire/anthropic-messages/count-tokens.ts";
import { WIRES } from "../../src/wire/registry.ts";
import { refusalOf } from "./play.ts";

const MESSAGES = [{ role: "user", content: "hi" }];
const ASK = { model: "m", max_tokens: 100, messages: MESSAGES };
const UPSTREAM = { model: "up", outputTokensMax: 50, outputLimitField: undefined };

const print = (body: string) =>
  WIRES.messages.printUpstreamRequest(WIRES.messages.parseRequest(body), UPSTREAM);

describe("what a messages body refers to at the provider", () => {
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
  ])("is refused by name: %s in %j", (path, members) => {
    const error = refusalOf(WIRES.messages, { ...ASK, ...members });
    expect(error.row.code).toBe("invalid_request");
    expect(WIRES.messages.statusOf(error)).toBe(400);
    expect(error.publicMessage).toStartWith("Nothing is stored here");
    expect(error.publicMessage).toEndWith(`: ${path}`);
  });

  test("is refused where a key is named twice in a container", () => {
    const text = `{"container":{"id":"container_1","id":null},${JSON.stringify(ASK).slice(1)}`;
    expect(refusalOf(WIRES.messages, text).kind).toBe("nothing_stored");
  });

  test("is taken where it is nothing, or new", () => {
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

describe("a new thread", () => {
  const asked = JSON.stringify({ ...ASK, thread: { type: "create" } });

  test("reaches no upstream, and changes nothing else of the body", () => {
    expect(print(asked)).toBe(print(JSON.stringify(ASK)));
    const request = WIRES.messages.parseRequest(asked);
    expect(printCountRequest(request, "m")).toBe(JSON.stringify(ASK));
  });

  test("reaches no upstream when the body names it twice", () => {
    const twice = asked.replace(
      '"thread"',
      '"thread":{"type":"continue","previous_message_id":"m"},"thread"',
    );
    expect(print(twice)).not.toContain("thread");
    const inside = asked.replace('{"type":"create"}', '{"type":"continue","type":"create"}');
    expect(print(inside)).not.toContain("thread");
  });

  test("bounds the input as a body without one", () => {
    expect(WIRES.messages.parseRequest(asked).input.unbounded).toBe(false);
  });

  test("is no part of what is translated", () => {
    const request = WIRES.messages.parseRequest(asked);
    expect(request.readChat()).toEqual(WIRES.messages.parseRequest(JSON.stringify(ASK)).readChat());
  });
});

describe("what other bodies refer to at the provider", () => {
  test.each<[format: "chat" | "responses", path: string, members: object]>([
    ["chat", "session_params", { session_params: { id: "s" } }],
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
  ])("is refused by name in %s: %s", (format, path, members) => {
    const error = refusalOf(WIRES[format], { ...ASK, input: "hi", ...members });
    expect(error.kind).toBe("nothing_stored");
    expect(error.publicMessage).toEndWith(`: ${path}`);
  });
});

describe("a compaction at the provider", () => {
  test.each<[format: "messages" | "responses", members: object]>([
    ["messages", { compaction: { type: "summarize" } }],
    ["messages", { context_management: { edits: [{ type: "compact_20260112" }] } }],
    ["responses", { context_management: [{ type: "compaction" }] }],
  ])("reads the prompt twice: %s %j", (format, members) => {
    const request = WIRES[format].parseRequest(JSON.stringify({ ...ASK, input: "hi", ...members }));
    expect(request.input.readings).toBe(2);
  });

  test("is not what clears tool uses", () => {
    const context_management = { edits: [{ type: "clear_tool_uses_20250919" }] };
    const request = WIRES.messages.parseRequest(JSON.stringify({ ...ASK, context_management }));
    expect(request.input.readings).toBe(1);
  });
});
