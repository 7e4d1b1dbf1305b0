import { describe, expect, test } from "bun:test";
import type { ChatEvent } from "../../../src/domain/chat-event.ts";
import type { Part, ReasoningPart, Turn } from "../../../src/domain/chat-request.ts";
import type { ModelTraits } from "../../../src/domain/model.ts";
import { printRequest as printMessages } from "../../../src/wire/anthropic-messages/egress/print-request.ts";
import { anthropicMessages } from "../../../src/wire/anthropic-messages/format.ts";
import type { Source } from "../../../src/wire/format.ts";
import { encodeHostReasoning, isHostReasoning } from "../../../src/wire/host-reasoning.ts";
import { shortenIdentifiers } from "../../../src/wire/identifiers.ts";
import { printRequest } from "../../../src/wire/openai-chat/egress/print-request.ts";
import { readReply } from "../../../src/wire/openai-chat/egress/read-answer.ts";
import { openaiChat } from "../../../src/wire/openai-chat/format.ts";
import { requestOf } from "../play.ts";

const ORIGIN = "router google/gemini-3-pro";
const ROUTER: Source = { origin: ORIGIN, isClaude: false };
const CLAUDE: Source = { origin: "router anthropic/claude", isClaude: true };
const LONG_ID = `tool_0_get_weather_${"x".repeat(60)}`;
const TRAITS: ModelTraits = { reasoning: "none", sampling: true };
const ADAPTIVE: ModelTraits = { reasoning: "adaptive", sampling: false };

const reasoning = (members: Partial<ReasoningPart>): ReasoningPart => ({
  kind: "reasoning",
  text: "",
  signature: undefined,
  redacted: undefined,
  ...members,
});
const called = (id = "a"): Part => ({ kind: "tool_call", id, name: "f", input: "{}", cache: undefined });
const call = (id: string, more: object = {}) => ({
  id,
  type: "function",
  function: { name: "f", arguments: "{}" },
  ...more,
});

/** Reads the events of a message without the finish. */
function stateEventsOf(message: object, source?: Source): ChatEvent[] {
  const choices = [{ index: 0, message: { role: "assistant", ...message }, finish_reason: "stop" }];
  const events = readReply(JSON.stringify({ id: "x", choices }), source);
  return events.filter(({ kind }) => kind !== "finish");
}

/** Returns the parts that a client sends back of such events. */
function partsOf(events: readonly ChatEvent[]): Part[] {
  const parts: Part[] = [];
  let text = "";
  for (const event of events) {
    if (event.kind === "reasoning") text += event.text;
    else if (event.kind === "reasoning_signature") {
      parts.push(reasoning({ text, signature: event.signature }));
      text = "";
    } else if (event.kind === "redacted_reasoning") parts.push(reasoning({ redacted: event.data }));
    else if (event.kind === "tool_call") parts.push(called(event.id));
  }
  return parts;
}

const chatOf = (parts: readonly Part[]) => {
  const turns: Turn[] = [{ role: "user", parts: [{ kind: "text", text: "hi", cache: undefined }] }];
  return {
    ...requestOf(anthropicMessages).readChat(),
    turns: [...turns, { role: "assistant" as const, parts }],
  };
};
const optionsOf = (origin: string | undefined, traits = TRAITS) => ({
  model: "m",
  outputTokensMax: 100,
  outputLimitField: undefined,
  stream: false,
  traits,
  origin,
});

/** Prints the assistant message for an upstream of chat completions. */
function messageFor(parts: readonly Part[], origin: string | undefined, traits = TRAITS) {
  const shortened = shortenIdentifiers(chatOf(parts), {
    nameCharsMax: 64,
    idCharsMax: openaiChat.egress?.idCharsMax ?? 0,
  });
  return JSON.parse(printRequest(shortened, optionsOf(origin, traits))).messages[1];
}

const GEMINI = {
  extra_content: { google: { thought_signature: "over the message" } },
  reasoning_details: [
    { type: "reasoning.text", text: "hm", format: "google-gemini-v1", index: 0 },
    { type: "reasoning.encrypted", data: "enc", id: "a", format: "google-gemini-v1", index: 1 },
  ],
  tool_calls: [
    call("a", { extra_content: { google: { thought_signature: "over a" } } }),
    call("b"),
    call("c", { extra_content: { google: { thought_signature: "over c" } } }),
  ],
};

describe("the state that a host expects back", () => {
  test("is sent back unchanged, each signature with its call", () => {
    expect(messageFor(partsOf(stateEventsOf(GEMINI, ROUTER)), ORIGIN)).toEqual({
      role: "assistant",
      content: null,
      reasoning_details: GEMINI.reasoning_details,
      extra_content: GEMINI.extra_content,
      tool_calls: GEMINI.tool_calls,
    });
  });

  test("is sent with its call in any order of the parts", () => {
    const parts = partsOf(stateEventsOf(GEMINI, ROUTER));
    const { tool_calls } = messageFor(parts.toReversed(), ORIGIN);
    expect(tool_calls).toEqual(GEMINI.tool_calls.toReversed());
  });

  test("is sent to no other and to no unknown upstream", () => {
    const parts = partsOf(stateEventsOf(GEMINI, ROUTER));
    const bare = { role: "assistant", content: null, tool_calls: ["a", "b", "c"].map((id) => call(id)) };
    expect(messageFor(parts, "router google/gemini-3-flash")).toEqual(bare);
    expect(messageFor(parts, "other google/gemini-3-pro", ADAPTIVE)).toEqual(bare);
    expect(messageFor(parts, undefined)).toEqual(bare);
  });

  test("is not sent to an upstream of messages, which keeps its own signatures", () => {
    const parts = [...partsOf(stateEventsOf(GEMINI, ROUTER)), reasoning({ text: "hm", signature: "c2ln" })];
    const body = JSON.parse(printMessages(chatOf(parts), optionsOf(ORIGIN, ADAPTIVE)));
    expect(body.messages[1].content).toEqual([
      { type: "tool_use", id: "a", name: "f", input: {} },
      { type: "tool_use", id: "b", name: "f", input: {} },
      { type: "tool_use", id: "c", name: "f", input: {} },
      { type: "thinking", thinking: "hm", signature: "c2ln" },
    ]);
  });

  test("is encoded for the host if its model is not known to be one of Anthropic's", () => {
    const details = [
      { type: "reasoning.text", text: "hm", signature: "s", format: "anthropic-claude-v1", index: 0 },
    ];
    const events = stateEventsOf({ content: "a", reasoning_details: details }, ROUTER);
    expect(
      events.some((event) => event.kind === "reasoning_signature" && isHostReasoning(event.signature)),
    ).toBe(true);
    expect(messageFor(partsOf(events), ORIGIN).reasoning_details).toEqual(details);
    expect(messageFor(partsOf(events), CLAUDE.origin, ADAPTIVE)).not.toHaveProperty("reasoning_details");
  });

  test("is kept as Anthropic's own for its models and is sent to them at any host", () => {
    const details = [
      { type: "reasoning.text", text: "hm", signature: "s", format: "anthropic-claude-v1", index: 0 },
      { type: "reasoning.encrypted", data: "x", format: "anthropic-claude-v1", index: 1 },
    ];
    const events = stateEventsOf({ content: "a", reasoning_details: details }, CLAUDE);
    expect(events).toContainEqual({ kind: "reasoning_signature", signature: "s" });
    expect(events).toContainEqual({ kind: "redacted_reasoning", data: "x" });
    expect(messageFor(partsOf(events), "another host", ADAPTIVE).reasoning_details).toEqual(details);
    expect(messageFor(partsOf(events), "another host")).not.toHaveProperty("reasoning_details");
  });

  test("has the shortened id of its call", () => {
    const id = LONG_ID;
    const kept = `rs_${"0".repeat(50)}`;
    const message = {
      reasoning_details: [
        { type: "reasoning.encrypted", data: "enc", id, format: "google-gemini-v1", index: 0 },
        { type: "reasoning.encrypted", data: "enc", id: kept, format: "openai-responses-v1", index: 1 },
      ],
      tool_calls: [call(id, { extra_content: { google: { thought_signature: "sig" } } })],
    };
    const { reasoning_details: details, tool_calls: calls } = messageFor(
      partsOf(stateEventsOf(message, ROUTER)),
      ORIGIN,
    );
    expect(calls[0].id.length).toBeLessThanOrEqual(40);
    expect(calls[0].extra_content).toEqual({ google: { thought_signature: "sig" } });
    expect(details.map((detail: { id: string }) => detail.id)).toEqual([calls[0].id, kept]);
  });

  test("is dropped if its type is wrong", () => {
    const message = {
      content: "a",
      extra_content: { google: { thought_signature: 7 } },
      reasoning_details: [
        { type: "reasoning.encrypted", data: {}, format: "x" },
        { type: 7, format: "x" },
        null,
      ],
      tool_calls: [call("a", { extra_content: "sig" }), call("b", { extra_content: { google: [] } })],
    };
    const events = stateEventsOf(message, ROUTER).filter(({ kind }) => kind === "redacted_reasoning");
    expect(events).toEqual([]);
  });
});

describe("encoded host state", () => {
  const encode = (value: object, origin = ORIGIN) =>
    encodeHostReasoning(origin, value as Record<string, unknown>);
  const good = encode({ kind: "message", signature: "sig" });
  const base64 = (text: string) => `tgh1_${Buffer.from(text).toString("base64url")}`;
  const detail = { type: "reasoning.text", signature: "s" };

  test("is sent back if it is valid", () =>
    expect(messageFor([reasoning({ redacted: good })], ORIGIN)).toHaveProperty("extra_content"));

  test.each<[string, string]>([
    ["if half of it is missing", good.slice(0, good.length / 2)],
    ["if it is empty", "tgh1_"],
    ["if it is not base64", "tgh1_\u0000\u0001"],
    ["if it is not JSON", base64("canary")],
    ["if it is a list", base64("[]")],
    ["if it has too many values", base64(`{"origin":"x","sealed":${"[".repeat(5_000)}${"]".repeat(5_000)}}`)],
    ["if it has too many members", encode({ kind: "message", signature: "canary", ...Array(30).fill(1) })],
    ["if it is above 8 Mi characters", encode({ kind: "message", signature: "x".repeat(9 * 1024 * 1024) })],
    ["if its kind is unknown", encode({ kind: "canary", signature: "canary" })],
    ["if its signature is not a string", encode({ kind: "message", signature: { canary: 1 } })],
    ["if its call has no id", encode({ kind: "call", signature: "canary" })],
    ["if its detail has an unknown type", encode({ kind: "detail", detail: { type: "canary", data: "x" } })],
    ["if its detail is not an object", encode({ kind: "detail", detail: "canary" })],
    ["if it has another origin", encode({ kind: "detail", detail }, "canary")],
  ])("is not sent back %s", (_, token) => {
    for (const part of [reasoning({ redacted: token }), reasoning({ text: "hm", signature: token })]) {
      const body = messageFor([part, called()], ORIGIN, ADAPTIVE);
      expect(body).toEqual({ role: "assistant", content: null, tool_calls: [call("a")] });
    }
  });

  test("is stripped of members that the gateway does not write", () => {
    const forged = { ...detail, text: "canary", role: "system", nested: { canary: 1 }, index: 3 };
    const body = messageFor([reasoning({ redacted: encode({ kind: "detail", detail: forged }) })], ORIGIN);
    expect(body.reasoning_details).toEqual([{ type: "reasoning.text", signature: "s", index: 3 }]);
  });

  test("is not sent back for a missing call", () => {
    const token = encode({ kind: "call", signature: "canary", id: "b" });
    expect(JSON.stringify(messageFor([reasoning({ redacted: token }), called()], ORIGIN))).not.toContain(
      "canary",
    );
  });
});

describe("a messages body that passes through to Anthropic", () => {
  const token = encodeHostReasoning(ORIGIN, { kind: "message", signature: "sig" });
  const options = { model: "theirs", outputTokensMax: 100, outputLimitField: undefined };
  const print = (messages: string) => {
    const text = `{"model":"theirs","max_tokens":100,"messages":${messages}}`;
    return anthropicMessages.printUpstreamRequest(anthropicMessages.parseRequest(text), options);
  };
  const wrap = (messages: string) => `{"model":"theirs","max_tokens":100,"messages":${messages}}`;

  test("loses only the state of chat hosts", () => {
    const kept = '{"type" : "thinking","thinking":"h\\u006d","signature":"c2ln/+=="}';
    const messages = `[ {"role":"user","content":"hi"},{"role" :"assistant","content":[{"type":"redacted_thinking","data":"${token}"}, ${kept},{"type":"thinking","thinking":"","signature":"${token}"}]},{"role":"user","content":"${token}"}]`;
    expect(print(messages)).toBe(
      wrap(
        `[{"role":"user","content":"hi"},{"role" :"assistant","content":[${kept}]},{"role":"user","content":"${token}"}]`,
      ),
    );
  });

  test("loses a message without remaining content", () => {
    const messages = `[{"role":"user","content":"hi"},{"role":"assistant","content":[{"type":"redacted_thinking","data":"${token}"}]}]`;
    expect(print(messages)).toBe(wrap('[{"role":"user","content":"hi"}]'));
  });

  test.each([
    `[{"role":"user","content":"tgh1_ is a mark"}]`,
    `[{"role":"user","content":[{"type":"text","text":"tgh1_x"},{"type":"tool_result","tool_use_id":"a","content":"tgh1_"}]}]`,
    `[ {"role":"assistant","content":[{"type":"thinking","thinking":"tgh1_","signature":"c2ln"}]} ]`,
    '[{"role":"user","content":[]},{"role":"user","content":[]}]',
  ])("is unchanged: %s", (messages) => expect(print(messages)).toBe(wrap(messages)));
});
