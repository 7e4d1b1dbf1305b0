import { describe, expect, test } from "bun:test";
import Anthropic from "@anthropic-ai/sdk";
import OpenAI from "openai";
import { createDemoUpstream } from "../../src/demo/demo.ts";
import type { CallObserver, UpstreamCall } from "../../src/upstream/upstream.ts";
import { callBodyOf } from "../support/call-body.ts";

const SIGNAL = new AbortController().signal;
const MESSAGES = [
  { role: "system", content: "Be brief." },
  { role: "user", content: "first" },
  { role: "assistant", content: "You said: first" },
  { role: "user", content: "how are you today?" },
];

function observing(signal: AbortSignal): CallObserver {
  return { signal, connecting: () => {}, connected: () => {}, unreachable: () => {}, onEnded: () => {} };
}

function send(surface: UpstreamCall["surface"], body: object | string, signal = SIGNAL): Promise<Response> {
  const text =
    typeof body === "string" ? body : JSON.stringify({ model: "demo", messages: MESSAGES, ...body });
  const stream = /"stream":true/.test(text);
  const path = surface === "chat" ? "/chat/completions" : "/v1/messages";
  return createDemoUpstream({ now: () => 1_700_000_000_000 }).keys[0].send(
    { surface, path, model: "demo", body: callBodyOf(text), stream, headers: {}, query: "" },
    observing(signal),
  );
}

/** Returns the official SDKs with the demo upstream as their fetch. */
function clients() {
  const upstream = createDemoUpstream();
  const fetchOf = (surface: UpstreamCall["surface"]) => async (_: unknown, init?: RequestInit) => {
    const body = String(init?.body);
    const call = {
      surface,
      path: "/",
      model: "m",
      body: callBodyOf(body),
      stream: JSON.parse(body).stream === true,
      headers: {},
      query: "",
    } as const;
    return upstream.keys[0].send(call, observing(init?.signal ?? SIGNAL));
  };
  return {
    openai: new OpenAI({ apiKey: "k", fetch: fetchOf("chat"), maxRetries: 0 }),
    anthropic: new Anthropic({ apiKey: "k", fetch: fetchOf("messages"), maxRetries: 0 }),
  };
}

describe("a whole answer of the demo model", () => {
  test("echoes the last user message, with usage that adds up", async () => {
    const chat = await (await send("chat", {})).json();
    expect(chat.choices).toEqual([
      {
        index: 0,
        message: { role: "assistant", content: "You said: how are you today?", refusal: null },
        logprobs: null,
        finish_reason: "stop",
      },
    ]);
    expect(chat.usage).toMatchObject({ prompt_tokens: 10, completion_tokens: 6, total_tokens: 16 });

    const message = await (await send("messages", { max_tokens: 100 })).json();
    expect(message.content).toEqual([
      { type: "text", text: "You said: how are you today?", citations: null },
    ]);
    expect(message).toMatchObject({ stop_reason: "end_turn", usage: { input_tokens: 10, output_tokens: 6 } });
  });

  test("stops at the output limit with the finish reason of its format", async () => {
    const chat = await (await send("chat", { max_completion_tokens: 3 })).json();
    expect(chat.choices[0]).toMatchObject({ message: { content: "You said: how" }, finish_reason: "length" });
    expect(chat.usage.completion_tokens).toBe(3);
    const message = await (await send("messages", { max_tokens: 1 })).json();
    expect(message).toMatchObject({
      content: [{ text: "You" }],
      stop_reason: "max_tokens",
      usage: { output_tokens: 1 },
    });
  });

  test("of exactly the output limit is complete", async () => {
    const chat = await (await send("chat", { max_tokens: 6 })).json();
    expect(chat.choices[0].finish_reason).toBe("stop");
  });

  test("has the requested number of choices and counts all of them", async () => {
    const chat = await (await send("chat", { n: 3 })).json();
    expect(chat.choices.map((choice: { index: number }) => choice.index)).toEqual([0, 1, 2]);
    expect(chat.usage.completion_tokens).toBe(18);
  });

  test("echoes text parts, and has a text for an empty message", async () => {
    const content = [
      { type: "text", text: "look" },
      { type: "image_url", image_url: { url: "x" } },
      { type: "text", text: "here" },
    ];
    const parts = await (await send("chat", { messages: [{ role: "user", content }] })).json();
    expect(parts.choices[0].message.content).toMatch(/^You said: look\s+here$/);
    const silence = await (await send("chat", { messages: [{ role: "user", content: "  " }] })).json();
    expect(silence.choices[0].message.content).toBe("You said nothing.");
  });

  test("is bounded in characters too, however long a word is", async () => {
    const content = "𝄞".repeat(1_000_000);
    const { choices, usage } = await (
      await send("chat", { max_tokens: 10, messages: [{ role: "user", content }] })
    ).json();
    expect(choices[0].message.content.length).toBeLessThan(300);
    expect(choices[0].message.content.isWellFormed()).toBe(true);
    expect(usage.prompt_tokens).toBeGreaterThan(50_000);
  });

  test("is equal for equal requests", async () =>
    expect(await (await send("chat", {})).text()).toBe(await (await send("chat", {})).text()));

  test("is status 400 for a body that is no JSON object", async () =>
    expect((await send("chat", "[]")).status).toBe(400));
});

describe("a stream of the demo model", () => {
  test("has the text of the whole answer, one token per event", async () => {
    const text = await (await send("chat", { stream: true })).text();
    const chunks = text.split("\n\n").filter((frame) => frame.startsWith("data: {"));
    const words = chunks.map((frame) => JSON.parse(frame.slice(6)).choices[0].delta.content ?? "");
    expect(words).toEqual(["", "You", " said:", " how", " are", " you", " today?", ""]);
    expect(text).toEndWith("data: [DONE]\n\n");
    expect(text).not.toContain("usage");
  });

  test("reports usage at its end on request", async () => {
    const text = await (await send("chat", { stream: true, stream_options: { include_usage: true } })).text();
    const last = text.split("\n\n").at(-3)?.slice(6) ?? "";
    expect(JSON.parse(last)).toMatchObject({
      choices: [],
      usage: { prompt_tokens: 10, completion_tokens: 6 },
    });
  });

  test("makes no event before it is read", async () => {
    const pauseMs = 40;
    const body = JSON.stringify({ model: "demo", messages: MESSAGES, stream: true });
    const call = {
      surface: "chat",
      path: "/",
      model: "m",
      body: callBodyOf(body),
      stream: true,
      headers: {},
      query: "",
    } as const;
    const reader = (
      await createDemoUpstream({ pauseMs }).keys[0].send(call, observing(SIGNAL))
    ).body?.getReader();
    await reader?.read();
    await Bun.sleep(3 * pauseMs);
    const startedAt = performance.now();
    await reader?.read();
    expect(performance.now() - startedAt).toBeGreaterThan(pauseMs / 2);
    await reader?.cancel();
  });

  test("ends at once with the reason of an aborted signal", async () => {
    const abort = new AbortController();
    const response = await send("messages", { stream: true, max_tokens: 100 }, abort.signal);
    const reader = response.body?.getReader();
    await reader?.read();
    const pending = reader?.read();
    abort.abort(new Error("gone"));
    await expect(pending).rejects.toThrow("gone");
    await expect(reader?.closed).rejects.toThrow("gone");
  });

  test("does not begin after its signal has aborted", () =>
    expect(send("chat", {}, AbortSignal.abort(new Error("gone")))).rejects.toThrow("gone"));

  test("yields to the event loop between two events", async () => {
    const messages = [{ role: "user", content: "word ".repeat(200) }];
    let turns = 0;
    let isOver = false;
    const turn = () => {
      turns += 1;
      if (!isOver) setImmediate(turn);
    };
    setImmediate(turn);
    await (await send("chat", { stream: true, messages })).text();
    isOver = true;
    expect(turns).toBeGreaterThan(100);
  });
});

describe("the official SDK", () => {
  test("openai reads whole and streamed answers", async () => {
    const { openai } = clients();
    const messages = [{ role: "user" as const, content: "hello there" }];
    const whole = await openai.chat.completions.create({ model: "demo", messages });
    expect(whole.choices[0]?.message.content).toBe("You said: hello there");
    const runner = openai.chat.completions.stream({
      model: "demo",
      messages,
      stream_options: { include_usage: true },
    });
    const final = await runner.finalChatCompletion();
    expect(final.choices[0]).toMatchObject({
      message: { content: "You said: hello there" },
      finish_reason: "stop",
    });
    expect(await runner.totalUsage()).toMatchObject({ completion_tokens: 4 });
  });

  test("@anthropic-ai/sdk reads whole and streamed answers", async () => {
    const { anthropic } = clients();
    const body = {
      model: "demo",
      max_tokens: 100,
      messages: [{ role: "user" as const, content: "hello there" }],
    };
    const whole = await anthropic.messages.create(body);
    const streamed = await anthropic.messages.stream(body).finalMessage();
    for (const message of [whole, streamed]) {
      expect(message.content[0]).toMatchObject({ type: "text", text: "You said: hello there" });
      expect(message.usage).toMatchObject({ input_tokens: 2, output_tokens: 4 });
      expect(message.stop_reason).toBe("end_turn");
    }
  });
});

test("a prompt of two million spaces takes less than a second of CPU time", async () => {
  const content = `a${" ".repeat(1_000_000)}b${" ".repeat(1_000_000)}`;
  const cpu = process.cpuUsage();
  const answer = await send("chat", { messages: [{ role: "user", content }] });
  expect(answer.status).toBe(200);
  expect(process.cpuUsage(cpu).user / 1_000).toBeLessThan(1_000);
});
