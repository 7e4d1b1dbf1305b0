import { describe, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { createAnthropic } from "@ai-sdk/anthropic";
import { generateText, streamText } from "ai";
import { answer, type Script } from "../support/script.ts";
import { EVENT_STREAM } from "../support/scripted-answers.ts";
import { CLAUDE, translatingGateway } from "./translating-gateway.ts";

const { upstream, settings, openai, anthropic } = translatingGateway();

const WAITING = readFileSync(join(import.meta.dir, "../fixtures/messages-programmatic-call.sse"), "utf8");
const INPUT = { city: "Rome" };
const USAGE = { input_tokens: 21, output_tokens: 13 };
const CODE = { type: "code_execution_20250825", tool_id: "srvtoolu_code_1" };
const ENDED = {
  id: "msg_code_9",
  type: "message",
  role: "assistant",
  model: "host-coder-1",
  content: [
    { type: "text", text: "I run the code." },
    {
      type: "server_tool_use",
      id: CODE.tool_id,
      name: "code_execution",
      input: { code: "…" },
      caller: { type: "direct" },
    },
    { type: "tool_use", id: "toolu_code_1", name: "get_weather", input: INPUT, caller: CODE },
    {
      type: "code_execution_tool_result",
      tool_use_id: CODE.tool_id,
      content: { type: "code_execution_result", stdout: "rain", stderr: "", return_code: 0, content: [] },
    },
    { type: "text", text: " It rains." },
  ],
  stop_reason: "end_turn",
  stop_sequence: null,
  usage: USAGE,
};

/** The events of that message as a stream, with each block whole in its start. */
const endedEvents = [
  { type: "message_start", message: { ...ENDED, content: [], stop_reason: null } },
  ...ENDED.content.flatMap((content_block, index) => [
    { type: "content_block_start", index, content_block },
    { type: "content_block_stop", index },
  ]),
  { type: "message_delta", delta: { stop_reason: "end_turn", stop_sequence: null }, usage: USAGE },
  { type: "message_stop" },
];
const STREAMED_ENDED = endedEvents
  .map((line) => `event: ${line.type}\ndata: ${JSON.stringify(line)}\n\n`)
  .join("");

const streams = (body: string): Script => answer({ headers: EVENT_STREAM, body });
const ended: Script = (request) =>
  (request.stream ? streams(STREAMED_ENDED) : answer({ body: JSON.stringify(ENDED) }))(request);

const QUESTION = [{ role: "user" as const, content: "How is Rome?" }];
const params = { model: CLAUDE, max_tokens: 1_000, messages: QUESTION };

describe("a programmatic call that arrives whole in message_start", () => {
  test("reaches Anthropic's SDK with its usage", async () => {
    upstream().on(CLAUDE, streams(WAITING));
    const message = await anthropic().messages.stream(params).finalMessage();
    expect(message).toMatchObject({
      model: CLAUDE,
      stop_reason: "tool_use",
      content: [{ type: "tool_use", id: "toolu_code_2", input: INPUT, caller: { type: CODE.type } }],
      usage: USAGE,
    });
  });

  test("reaches the AI SDK with its input", async () => {
    upstream().on(CLAUDE, streams(WAITING));
    const model = createAnthropic(settings())(CLAUDE);
    const result = streamText({ model, prompt: "How is Rome?", maxOutputTokens: 1_000, maxRetries: 0 });
    expect(await result.finishReason).toBe("tool-calls");
    expect(await result.toolCalls).toMatchObject([{ toolName: "get_weather", input: INPUT }]);
    // The SDK reads output tokens only from a later event.
    expect(await result.usage).toMatchObject({ inputTokens: 21, raw: USAGE });
  });

  test("is a tool call for clients of chat completions and responses", async () => {
    upstream().on(CLAUDE, streams(WAITING), streams(WAITING));
    const request = { model: CLAUDE, messages: QUESTION, stream_options: { include_usage: true } };
    const stream = openai().chat.completions.stream(request);
    const { choices, usage } = await stream.finalChatCompletion();
    expect(choices).toMatchObject([
      {
        finish_reason: "tool_calls",
        message: { tool_calls: [{ id: "toolu_code_2", function: { arguments: JSON.stringify(INPUT) } }] },
      },
    ]);
    expect(usage).toMatchObject({ prompt_tokens: 21, completion_tokens: 13 });
    const response = await openai().responses.stream({ model: CLAUDE, input: "Rome?" }).finalResponse();
    expect(response).toMatchObject({
      output: [{ type: "function_call", call_id: "toolu_code_2", arguments: JSON.stringify(INPUT) }],
      usage: USAGE,
    });
  });
});

describe("an answer that ended its turn after a programmatic call", () => {
  test("passes whole and streamed to Anthropic's SDK", async () => {
    upstream().on(CLAUDE, ended, ended);
    const { messages } = anthropic();
    for (const message of [await messages.create(params), await messages.stream(params).finalMessage()]) {
      expect(message).toMatchObject({ ...ENDED, model: CLAUDE });
    }
  });

  test("contains no call for clients of chat completions, whole and streamed", async () => {
    upstream().on(CLAUDE, ended, ended);
    const { completions } = openai().chat;
    const request = { model: CLAUDE, messages: QUESTION };
    for (const completion of [
      await completions.create(request),
      await completions.stream(request).finalChatCompletion(),
    ]) {
      expect(completion.choices).toMatchObject([
        { finish_reason: "stop", message: { content: "I run the code. It rains." } },
      ]);
      expect(completion.choices[0]?.message.tool_calls ?? []).toEqual([]);
    }
  });

  test("contains no call for clients of responses, whole and streamed", async () => {
    upstream().on(CLAUDE, ended, ended);
    const { responses } = openai();
    const request = { model: CLAUDE, input: "Rome?" };
    for (const response of [
      await responses.create(request),
      await responses.stream(request).finalResponse(),
    ]) {
      expect(response).toMatchObject({ status: "completed", output_text: "I run the code. It rains." });
      expect(response.output.map(({ type }) => type)).not.toContain("function_call");
    }
  });

  test("ends a tool loop of the AI SDK", async () => {
    upstream().on(CLAUDE, ended);
    const model = createAnthropic(settings())(CLAUDE);
    const { finishReason } = await generateText({
      model,
      prompt: "Rome?",
      maxOutputTokens: 99,
      maxRetries: 0,
    });
    expect(finishReason).toBe("stop");
  });
});
