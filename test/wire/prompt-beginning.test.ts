import { describe, expect, test } from "bun:test";
import { hashBeginning } from "../../src/wire/prompt-beginning.ts";

const SYSTEM = `You are a "helpful" assistant. `.repeat(200);
const TOOLS = [{ name: "t", input_schema: { properties: { messages: { type: "array" }, input: {} } } }];

interface Turn {
  readonly role: string;
  readonly content: unknown;
}

/** A conversation about a topic, after so many answers. */
function conversation(topic: string, answers: number, mark = false): Turn[] {
  const text = { type: "text", text: `About ${topic}` };
  const marked = mark ? { ...text, cache_control: { type: "ephemeral" } } : text;
  const later = Array.from({ length: answers }, (_, at) => [
    { role: "assistant", content: `Answer ${at} `.repeat(50) },
    { role: "user", content: `Question ${at}` },
  ]);
  return [{ role: "user", content: [marked] }, ...later.flat()];
}

const messagesBody = (messages: readonly Turn[], more: object = {}) =>
  JSON.stringify({ model: "m", max_tokens: 10, system: SYSTEM, tools: TOOLS, messages, ...more });
const chatBody = (messages: readonly Turn[]) =>
  JSON.stringify({ messages: [{ role: "system", content: SYSTEM }, ...messages], model: "m", tools: TOOLS });
const contentFirst = (messages: readonly Turn[]) =>
  chatBody(messages.map(({ role, content }) => ({ content, role })));
const responsesBody = (input: readonly Turn[]) =>
  JSON.stringify({ model: "m", instructions: SYSTEM, tools: TOOLS, input });

describe.each([
  ["messages", "messages", messagesBody],
  ["chat", "chat", chatBody],
  ["chat, content before role", "chat", contentFirst],
  ["responses", "responses", responsesBody],
] as const)("the beginning of a prompt of %s", (_name, surface, print) => {
  const hashOf = (topic: string, answers: number, mark = false) =>
    hashBeginning(print(conversation(topic, answers, mark)), surface);

  test("is one for all requests of a conversation", () => {
    const first = hashOf("cats", 0);
    expect(first).toBeNumber();
    for (let answers = 1; answers < 30; answers += 1) expect(hashOf("cats", answers)).toBe(first);
  });

  test("differs between conversations", () => {
    const hashes = Array.from({ length: 50 }, (_, at) => hashOf(`topic ${at}`, 3));
    expect(new Set(hashes).size).toBe(50);
  });

  test("does not depend on cache marks, which clients move", () =>
    expect(hashOf("cats", 0, true)).toBe(hashOf("cats", 4, false)));
});

describe("hashBeginning()", () => {
  test("depends on the system before the messages", () => {
    const one = messagesBody(conversation("cats", 0), { system: `A ${SYSTEM}` });
    const other = messagesBody(conversation("cats", 0), { system: `B ${SYSTEM}` });
    expect(hashBeginning(one, "messages")).not.toBe(hashBeginning(other, "messages"));
  });

  test("returns undefined for a short body, for one without messages, and for embeddings", () => {
    expect(hashBeginning(JSON.stringify({ messages: [] }), "chat")).toBeUndefined();
    expect(hashBeginning(JSON.stringify({ system: SYSTEM }), "messages")).toBeUndefined();
    expect(hashBeginning(JSON.stringify({ input: SYSTEM }), "embeddings")).toBeUndefined();
  });

  test.each(["[]", "[[]]", '["user"]', `[{"role":"user"`, '[{"role":"user","content":[[[[', '"'])(
    "reads no further than the text for messages that begin with %s",
    (messages) => {
      const text = `{"system":${JSON.stringify(SYSTEM)},"messages":${messages}`;
      expect(() => hashBeginning(text, "chat")).not.toThrow();
    },
  );

  test("hashes a responses input that is one text", () => {
    const [one, other] = ["a", "b"].map((letter) => JSON.stringify({ model: "m", input: letter + SYSTEM }));
    expect(hashBeginning(one ?? "", "responses")).not.toBe(hashBeginning(other ?? "", "responses"));
  });
});
