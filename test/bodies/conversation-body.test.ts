import { afterAll, describe, expect, test } from "bun:test";
import { createBodies } from "../../src/bodies/bodies.ts";
import type { Body } from "../../src/bodies/body.ts";
import { createCooperativeYield } from "../../src/bodies/cooperative-yield.ts";
import { createKnownHistories, type History, sampleOf, tagOf } from "../../src/bodies/known-histories.ts";
import type { Printed } from "../../src/bodies/open-body.ts";
import type { ClientSurface } from "../../src/domain/model.ts";
import type { PrintOptions } from "../../src/wire/format.ts";
import { encodeHostReasoning } from "../../src/wire/host-reasoning.ts";
import { WIRES } from "../../src/wire/registry.ts";
import { TRAITS } from "../fuzz/cases/fuzz-case.ts";

const bodies = createBodies(createCooperativeYield());
afterAll(() => bodies.close());

const OPTIONS: PrintOptions = {
  model: "host-model",
  outputTokensMax: 77,
  outputLimitField: undefined,
  stream: false,
  traits: TRAITS.plain,
};
const TEXT = "Read the file → and tell me. ".repeat(200);
const MESSAGES = Array.from({ length: 12 }, (_, at) => ({
  role: at % 2 ? "assistant" : "user",
  content: TEXT,
}));
const TOOLS = [{ name: "read", description: TEXT, input_schema: { type: "object" } }];
const BODY = { model: "m", messages: MESSAGES, tools: TOOLS, max_tokens: 10 };
const NEXT = { ...BODY, messages: [...MESSAGES, { role: "user", content: "Go on." }] };

const newOwner = () => crypto.randomUUID();

async function read(
  owner: string,
  body: object | string,
  surface: ClientSurface = "messages",
): Promise<Body> {
  const text = typeof body === "string" ? body : JSON.stringify(body);
  return await bodies.read({ wire: WIRES[surface], owner, blocks: [new TextEncoder().encode(text)] });
}

/** Reads a body and prints it for its own format, after which its messages are known. */
async function converse(owner: string, body: object | string, surface: ClientSurface = "messages") {
  const opened = await read(owner, body, surface);
  const printed = await opened.print(surface, OPTIONS);
  return { request: opened.request, printed, isKnown: isKnown(printed) };
}

/** A body with a known history is printed as bytes, any other in this thread as text. */
const isKnown = (printed: Printed) => typeof printed !== "string";
const parsed = (printed: Printed) =>
  JSON.parse(typeof printed === "string" ? printed : Buffer.concat(printed).toString());

/** Expects a body of an owner with a history to be as one of an owner without. */
async function expectWhole(owner: string, body: object | string, surface: ClientSurface = "messages") {
  const seen = await converse(owner, body, surface);
  const whole = await converse(newOwner(), body, surface);
  expect(seen.isKnown).toBe(false);
  expect(seen.printed).toBe(whole.printed);
  expect(seen.request.input).toEqual(whole.request.input);
}

describe("the messages of a conversation", () => {
  test("are known after one turn, and sent as they were", async () => {
    const owner = newOwner();
    expect((await converse(owner, BODY)).isKnown).toBe(false);
    const next = await converse(owner, NEXT);
    expect(next.isKnown).toBe(true);
    expect(parsed(next.printed)).toEqual({ ...NEXT, model: "host-model", max_tokens: 77 });
  });

  test("stay known while the conversation grows, and after its last messages have changed", async () => {
    const owner = newOwner();
    await converse(owner, BODY);
    let messages: readonly object[] = MESSAGES;
    for (let turn = 0; turn < 20; turn += 1) {
      messages = [...messages.slice(0, -2), ...MESSAGES.slice(0, 5)];
      const seen = await converse(owner, { ...BODY, messages });
      expect(seen.isKnown).toBe(true);
      expect(parsed(seen.printed).messages).toEqual(messages);
    }
  });

  test("are known where the body arrives in pieces", async () => {
    const owner = newOwner();
    await converse(owner, BODY);
    const bytes = new TextEncoder().encode(JSON.stringify(NEXT));
    const blocks = [bytes.slice(0, 50_001), bytes.slice(50_001)];
    const body = await bodies.read({ wire: WIRES.messages, owner, blocks });
    expect(isKnown(await body.print("messages", OPTIONS))).toBe(true);
  });

  test("are not known to another account, nor in another format", async () => {
    const owner = newOwner();
    const chat = { model: "m", messages: MESSAGES };
    await converse(owner, chat, "chat");
    expect((await converse(owner, chat, "messages")).isKnown).toBe(false);
    expect((await converse(newOwner(), chat, "chat")).isKnown).toBe(false);
    expect((await converse(owner, chat, "chat")).isKnown).toBe(true);
  });

  test("are not known before a body was sent on, nor after it was only translated", async () => {
    const owner = newOwner();
    await read(owner, BODY);
    await (await read(owner, BODY)).print("chat", OPTIONS);
    expect((await converse(owner, BODY)).isKnown).toBe(false);
  });

  test("are read again for a translation", async () => {
    const owner = newOwner();
    await converse(owner, BODY);
    const translated = await (await read(owner, NEXT)).print("chat", OPTIONS);
    expect(translated).toBe((await (await read(newOwner(), NEXT)).print("chat", OPTIONS)) as string);
  });

  test("of other tools than before are known, and the tools are checked", async () => {
    const owner = newOwner();
    await converse(owner, BODY);
    const more = [...TOOLS, { name: "write", input_schema: {} }];
    const seen = await converse(owner, { ...NEXT, tools: more });
    expect(seen.isKnown).toBe(true);
    expect(parsed(seen.printed).tools).toEqual(more);
    const paid = { ...NEXT, tools: [{ type: "computer_use_9", name: "computer", price: 1 }] };
    const { input } = (await read(owner, paid)).request;
    expect(input).toEqual((await read(newOwner(), paid)).request.input);
  });
});

describe("a body whose first messages are known is parsed whole", () => {
  test("where its tools only look as if they were in place", async () => {
    const owner = newOwner();
    await converse(owner, BODY);
    // The known tools end as far from the end of the body as before, but inside of another member.
    const members = JSON.stringify({ model: "m", messages: NEXT.messages, tools: [] }).slice(0, -1);
    const nested = `${members},"metadata":{"tools":${JSON.stringify(TOOLS)}},"a":1234567890}`;
    expect('},"a":1234567890}').toHaveLength(',"max_tokens":10}'.length);
    await expectWhole(owner, nested);
  });

  test("where its list is repeated", async () => {
    const owner = newOwner();
    await converse(owner, BODY);
    await expectWhole(
      owner,
      JSON.stringify(NEXT).replace(/\}$/, ',"messages":[{"role":"user","content":"x"}]}'),
    );
  });

  test("where its messages add tools that run at the upstream", async () => {
    const owner = newOwner();
    const server = { type: "shell", name: "shell", environment: { type: "local" } };
    const input = [{ type: "additional_tools", tools: [server] }, ...MESSAGES];
    await converse(owner, { model: "m", input, tools: [server] }, "responses");
    await expectWhole(owner, { model: "m", input, tools: [server] }, "responses");
    await expectWhole(owner, { model: "m", input, tools: [{ type: "web_search" }] }, "responses");
  });

  test("where it gets a container, whose files have any size", async () => {
    const owner = newOwner();
    const source = { type: "base64", media_type: "image/png", data: "aGk=".repeat(500) };
    const messages = [{ role: "user", content: [{ type: "image", source }] }, ...MESSAGES];
    await converse(owner, { ...BODY, messages });
    expect((await converse(owner, { ...BODY, messages })).isKnown).toBe(true);
    await expectWhole(owner, { ...BODY, messages, container: { skills: [] } });
  });

  test("where all messages after the known ones are dropped", async () => {
    const owner = newOwner();
    await converse(owner, BODY);
    const signature = encodeHostReasoning("host", { text: "thought" });
    const foreign = { role: "assistant", content: [{ type: "thinking", thinking: "", signature }] };
    await expectWhole(owner, { ...BODY, messages: [...MESSAGES.slice(0, 8), foreign, foreign] });
  });

  test("and refused, where a byte order mark follows the known messages", async () => {
    const owner = newOwner();
    await converse(owner, BODY);
    const before = JSON.stringify({ model: "m", messages: MESSAGES.slice(0, 8) }).slice(0, -2);
    const after = JSON.stringify(MESSAGES.slice(8)).slice(1);
    expect((await converse(owner, `${before},${after}}`)).isKnown).toBe(true);
    await expect(read(owner, `${before},\uFEFF${after}}`)).rejects.toMatchObject({ kind: "not_json" });
  });
});

describe("known histories", () => {
  const BYTES = new TextEncoder().encode("x".repeat(1_000));
  const historyOf = (end: number): History => ({
    surface: "chat",
    listStart: 1,
    end,
    sample: sampleOf(BYTES, end),
    tag: tagOf(BYTES.subarray(0, end)),
    mediaBytes: 0,
    images: 0,
    measured: { members: 0, values: 0 },
    promptHash: undefined,
    tools: undefined,
  });

  test("are found by the longest beginning", () => {
    const histories = createKnownHistories();
    for (const end of [100, 300, 200]) histories.add("a", historyOf(end));
    expect(histories.find("a", "chat", BYTES)?.end).toBe(300);
    expect(histories.find("a", "chat", BYTES.subarray(0, 250))?.end).toBe(200);
    expect(histories.find("a", "chat", BYTES.subarray(0, 100))).toBeUndefined();
  });

  test("that are equal but for bytes that are not sampled are told apart", () => {
    const histories = createKnownHistories();
    const changed = (value: number) => BYTES.with(500, value);
    const { end, ...rest } = historyOf(1_000 - 1);
    for (const value of [1, 2, 3]) {
      histories.add("a", { ...rest, end, tag: tagOf(changed(value).subarray(0, end)), images: value });
    }
    expect(sampleOf(changed(2), end)).toBe(rest.sample);
    expect(histories.find("a", "chat", changed(2))?.images).toBe(2);
    expect(histories.find("a", "chat", changed(4))).toBeUndefined();
  });

  test("of one owner above the maximum forget the one that was not used for longest", () => {
    const histories = createKnownHistories({ ownerMax: 2 });
    histories.add("a", historyOf(100));
    histories.add("a", historyOf(200));
    expect(histories.find("a", "chat", BYTES.subarray(0, 150))?.end).toBe(100);
    histories.add("a", historyOf(300));
    expect(histories.find("a", "chat", BYTES.subarray(0, 250))?.end).toBe(100);
    expect(histories.find("a", "chat", BYTES)?.end).toBe(300);
  });

  test("of more owners than the maximum forget the owner that was not seen for longest", () => {
    const histories = createKnownHistories({ ownersMax: 2 });
    histories.add("a", historyOf(100));
    histories.add("b", historyOf(100));
    expect(histories.find("a", "chat", BYTES)).toBeDefined();
    histories.add("c", historyOf(100));
    expect(histories.find("b", "chat", BYTES)).toBeUndefined();
    expect(histories.find("a", "chat", BYTES)).toBeDefined();
  });
});
