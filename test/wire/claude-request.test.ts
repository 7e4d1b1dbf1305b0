import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import type { CacheMark, ChatRequest, Part, Tool, Turn } from "../../src/domain/chat-request.ts";
import type { ModelTraits } from "../../src/domain/model.ts";
import { printRequest } from "../../src/wire/anthropic-messages/egress/print-request.ts";
import { callOf, chatOf, resultOf, textOf as text, turnOf } from "./chat-request.ts";

/** Enough for every model: 5,000 tokens at 4 bytes each. */
const LONG = "A rule. ".repeat(2_500);
const MARK = { type: "ephemeral" };

const turn = (role: Turn["role"], ...parts: (string | Part)[]) =>
  turnOf(role, ...parts.map((part) => (typeof part === "string" ? text(part) : part)));
const tool = (description = "Looks up.", cache?: CacheMark): Tool => ({
  name: "look_up",
  description,
  schema: { type: "object", properties: { id: { type: "string" } } },
  strict: undefined,
  isFreeForm: false,
  cache,
});
const call = (id: string) => callOf(id, "look_up", "{}");
const result = (callId: string, words: string) => resultOf(callId, text(words));

interface Printed {
  readonly tools?: readonly Block[];
  readonly system?: readonly Block[];
  readonly messages: readonly { readonly role: string; readonly content: readonly Block[] }[];
}
type Block = Readonly<Record<string, unknown>>;

const TRAITS: ModelTraits = { reasoning: "none", sampling: true };

function print(
  members: Partial<ChatRequest>,
  { model = "claude-sonnet-4-5", marksPrefixes = true, traits = TRAITS } = {},
): Printed {
  const options = { model, outputTokensMax: 100, outputLimitField: undefined, stream: false, traits };
  return JSON.parse(printRequest(chatOf(members), { ...options, marksPrefixes }));
}

/** Every block of a prompt in the order in which it is read. */
function blocksOf({ tools = [], system = [], messages }: Printed): readonly Block[] {
  return [
    ...tools,
    ...system,
    ...messages.flatMap(({ role, content }) => content.map((block) => ({ ...block, role }))),
  ];
}

/** The names of the marked places: the last tool, the last system block, and messages by their number. */
function marksOf({ tools = [], system = [], messages }: Printed): readonly string[] {
  const isLast = (list: readonly Block[]) => list.findIndex(isMarked) === list.length - 1;
  return [
    ...(tools.some(isMarked) && isLast(tools) ? ["tools"] : []),
    ...(system.some(isMarked) && isLast(system) ? ["system"] : []),
    ...messages.flatMap(({ content }, at) => (content.some(isMarked) && isLast(content) ? [`${at}`] : [])),
  ];
}

function isMarked(block: Block): boolean {
  return block.cache_control !== undefined;
}

function unmarked(value: unknown): unknown {
  return JSON.parse(JSON.stringify(value), (key, each) => (key === "cache_control" ? undefined : each));
}

describe("a prompt without marks of the client", () => {
  test("has four marks in a long conversation with tools", () => {
    const turns = [turn("system", LONG), turn("user", "a"), turn("assistant", "b"), turn("user", "c")];
    const printed = print({ turns, tools: [tool(LONG)] });
    expect(marksOf(printed)).toEqual(["tools", "system", "0", "2"]);
    expect(printed.messages[2]?.content[0]).toEqual({ type: "text", text: "c", cache_control: MARK });
  });

  test("has no mark in a prompt that is too short for a cache", () => {
    const turns = [turn("system", "Be brief."), turn("user", "a"), turn("assistant", "b"), turn("user", "c")];
    expect(JSON.stringify(print({ turns, tools: [tool()] }))).not.toContain("cache_control");
  });

  test("has marks from the first prefix on that is long enough", () => {
    const turns = [
      turn("system", "Be brief."),
      turn("user", "a"),
      turn("assistant", LONG),
      turn("user", "c"),
    ];
    expect(marksOf(print({ turns, tools: [tool()] }))).toEqual(["2"]);
  });

  test.each([
    ["claude-sonnet-4-5-20250929", 1_024],
    ["claude-opus-4-8", 1_024],
    ["a-deployment-of-some-model", 1_024],
    ["claude-3-5-haiku@20241022", 2_048],
    ["claude-opus-4-5", 4_096],
    ["anthropic.claude-haiku-4-5-20251001-v1:0", 4_096],
  ])("on %s has marks from %i tokens on", (model, tokens) => {
    const of = (bytes: number) =>
      marksOf(print({ turns: [turn("system", "x".repeat(bytes)), turn("user", "a")] }, { model }));
    expect(of(tokens * 4 - 4)).toEqual([]);
    expect(of(tokens * 4)).toEqual(["system"]);
  });

  test("has no mark on a single message, which another request seldom repeats", () => {
    expect(marksOf(print({ turns: [turn("user", LONG)] }))).toEqual([]);
    expect(marksOf(print({ turns: [turn("system", LONG), turn("user", LONG)] }))).toEqual(["system"]);
  });

  test("has a mark on a single message with tools, unless a tool is forced", () => {
    const turns = [turn("user", LONG)];
    expect(marksOf(print({ turns, tools: [tool()] }))).toEqual(["0"]);
    expect(marksOf(print({ turns, tools: [tool()], toolChoice: { kind: "tool", name: "look_up" } }))).toEqual(
      [],
    );
    expect(marksOf(print({ turns, tools: [tool()], toolChoice: { kind: "none" } }))).toEqual([]);
  });

  test("marks where the last request ended, however many blocks have come since", () => {
    const ids = Array.from({ length: 30 }, (_, at) => `c${at}`);
    const turns = [
      turn("user", LONG),
      turn("assistant", ...ids.map(call)),
      turn("user", ...ids.map((id) => result(id, "found"))),
    ];
    const printed = print({ turns, tools: [tool()] });
    expect(marksOf(printed)).toEqual(["0", "2"]);
    expect(printed.messages[2]?.content.at(-1)).toMatchObject({ type: "tool_result", cache_control: MARK });
  });

  test("has no mark on reasoning and on blank texts, but on the part before them", () => {
    const thought: Part = { kind: "reasoning", text: "hm", signature: "c2ln", redacted: undefined };
    const turns = [turn("user", LONG), turn("assistant", "b"), turn("user", "c", thought, " ")];
    const traits: ModelTraits = { reasoning: "adaptive", sampling: true };
    const [{ content = [] } = {}] = print({ turns }, { traits }).messages.slice(-1);
    expect(content).toMatchObject([{ text: "c", cache_control: MARK }, { type: "thinking" }]);
    expect(content[1]).not.toHaveProperty("cache_control");
  });

  test("has no mark when caching is off", () => {
    const turns = [turn("system", LONG), turn("user", "a"), turn("assistant", "b"), turn("user", "c")];
    expect(JSON.stringify(print({ turns }, { marksPrefixes: false }))).not.toContain("cache_control");
  });
});

test("a prompt with a mark of the client's own is not changed", () => {
  const own: CacheMark = { ttl: "1h" };
  const nested = { ...result("a", LONG), parts: [{ kind: "text", text: LONG, cache: own }] } as Part;
  const prompts: Partial<ChatRequest>[] = [
    { cache: own },
    { tools: [tool(LONG, own)] },
    { turns: [turn("system", text(LONG, own)), turn("user", "a")] },
    { turns: [turn("user", LONG), turn("assistant", text("b", own)), turn("user", "c")] },
    { turns: [turn("user", LONG), turn("assistant", call("a")), turn("user", nested)] },
  ];
  for (const prompt of prompts) expect(print(prompt)).toEqual(print(prompt, { marksPrefixes: false }));
});

const words = fc.oneof(fc.constant(""), fc.constant("Hm."), fc.constant(LONG), fc.string({ maxLength: 9 }));
const part = fc.oneof(
  words.map((each) => text(each)),
  fc.constantFrom<Part>(
    {
      kind: "image",
      source: { kind: "url", url: "https://a.b/c" },
      detail: undefined,
      cache: undefined,
      path: "",
    },
    result("a", LONG),
    { kind: "reasoning", text: "hm", signature: "c2ln", redacted: undefined },
  ),
);
const role = fc.constantFrom<Turn["role"]>("system", "user", "assistant");
const turns = fc.array(fc.record({ role, parts: fc.array(part, { minLength: 1, maxLength: 4 }) }), {
  minLength: 1,
  maxLength: 8,
});
const chat = fc.record({
  turns,
  tools: fc.array(
    words.map((each) => tool(each)),
    { maxLength: 3 },
  ),
  toolChoice: fc.constantFrom<ChatRequest["toolChoice"]>(undefined, { kind: "auto" }, { kind: "required" }),
});

test("a random chat has at most four marks, and the model reads the same text", () => {
  fc.assert(
    fc.property(chat, (members) => {
      const marked = print(members);
      expect(blocksOf(marked).filter(isMarked).length).toBeLessThanOrEqual(4);
      expect(unmarked(marked)).toEqual(print(members, { marksPrefixes: false }));
    }),
    { numRuns: 150 },
  );
});

test("the next request of a random chat begins with everything that the request before it marked", () => {
  const later = fc.array(fc.tuple(fc.constantFrom("Yes.", LONG), fc.constantFrom("And now?", LONG)), {
    minLength: 1,
    maxLength: 5,
  });
  fc.assert(
    fc.property(chat, later, (members, more) => {
      let all: readonly Turn[] = [...members.turns, turn("user", "Begin.")];
      let marked = blocksOf(print({ ...members, turns: all }));
      for (const [answer, question] of more) {
        all = [...all, turn("assistant", answer), turn("user", question)];
        const next = blocksOf(print({ ...members, turns: all }));
        const end = marked.findLastIndex(isMarked) + 1;
        expect(unmarked(next.slice(0, end))).toEqual(unmarked(marked.slice(0, end)));
        if (end > 0) expect(next.findLastIndex(isMarked)).toBeGreaterThanOrEqual(end - 1);
        marked = next;
      }
    }),
    { numRuns: 100 },
  );
});
