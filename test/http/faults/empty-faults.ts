import type { ModelOutput } from "../../support/model-output.ts";
import type { Expectation, Fault } from "./fault.ts";
import { answerJson, answerOutput, answerStream, wholeOrStream } from "./fault-scripts.ts";
import { answers, byMode, bySurface, empty, REPORTED } from "./outcomes.ts";

const THOUGHTS = "one two six";
const usage = { input: 11, output: 9 };

/** Answers with little or nothing to read. */
export const EMPTY_FAULTS: readonly Fault[] = [
  { name: "empty with usage", scripts: [answerOutput({ usage })], expected: empty(REPORTED) },
  { name: "empty without usage", scripts: [answerOutput({})], expected: empty(undefined) },
  { name: "empty text with usage", scripts: [answerOutput({ text: "", usage })], expected: emptyText(true) },
  { name: "empty text without usage", scripts: [answerOutput({ text: "" })], expected: emptyText(false) },
  {
    name: "empty for want of tokens",
    scripts: [
      (request) =>
        answerOutput({ finish: request.protocol === "openai" ? "length" : "max_tokens", usage })(request),
    ],
    expected: empty(REPORTED),
  },
  {
    name: "reasoning only with usage",
    scripts: [answerOutput({ reasoning: THOUGHTS, usage })],
    expected: thoughtOnly(true),
  },
  {
    name: "reasoning only without usage",
    scripts: [answerOutput({ reasoning: THOUGHTS })],
    expected: thoughtOnly(false),
  },
  {
    name: "reasoning before an answer",
    scripts: [answerOutput({ reasoning: THOUGHTS, text: "one two six ten", usage })],
    expected: answers({ reasoning: THOUGHTS }),
  },
  {
    name: "a tool call only",
    scripts: [answerOutput({ tool: { name: "look", arguments: '{"at":"sky"}' }, usage })],
    expected: bySurface({
      chat: toolCall("call_1", "tool_calls"),
      messages: toolCall("toolu_1", "tool_use"),
    }),
  },
  {
    name: "a refusal in words",
    surfaces: ["chat"],
    scripts: [
      wholeOrStream({
        whole: answerJson(() =>
          chatAnswer({ role: "assistant", content: null, refusal: "I will not." }, "stop"),
        ),
        stream: answerStream(() => chatEvents({ role: "assistant", refusal: "I will not." }, "stop")),
      }),
    ],
    expected: answers({ text: "", refusal: "I will not." }),
  },
  {
    name: "a refusal without words",
    scripts: [answerFinished({ usage }, { openai: "content_filter", anthropic: "refusal" })],
    expected: bySurface({
      chat: answers({ text: "", finish: "content_filter" }),
      messages: answers({ text: "", finish: "refusal" }),
    }),
  },
  {
    name: "a refusal in the middle",
    scripts: [
      answerFinished({ text: "one two six ten", usage }, { openai: "content_filter", anthropic: "refusal" }),
    ],
    expected: bySurface({
      chat: answers({ finish: "content_filter" }),
      messages: answers({ finish: "refusal" }),
    }),
  },
];

/** An empty content block opens the stream on messages. Chat has no such event. */
function emptyText(isReported: boolean): Expectation {
  const charge = isReported ? REPORTED : undefined;
  return ({ surface, mode }) =>
    empty(charge, surface.name === "messages" && mode === "stream" ? {} : undefined);
}

function thoughtOnly(isReported: boolean) {
  const charge = isReported ? REPORTED : undefined;
  return byMode({ whole: empty(charge), stream: empty(charge, { reasoning: THOUGHTS }) });
}

function toolCall(id: string, finish: string) {
  return answers({ text: "", tools: [{ id, name: "look", arguments: '{"at":"sky"}' }], finish });
}

function answerFinished(
  modelOutput: ModelOutput,
  finishes: Record<"openai" | "anthropic", string>,
): Fault["scripts"][number] {
  return (request) => answerOutput({ ...modelOutput, finish: finishes[request.protocol] })(request);
}

const CHAT = { id: "chatcmpl-x", created: 1, model: "x", usage: { prompt_tokens: 11, completion_tokens: 9 } };

function chatAnswer(message: object, finish: string): object {
  return { ...CHAT, object: "chat.completion", choices: [{ index: 0, message, finish_reason: finish }] };
}

function chatEvents(delta: object, finish: string): string {
  const chunk = (choice: object) =>
    `data: ${JSON.stringify({ ...CHAT, object: "chat.completion.chunk", choices: [{ index: 0, ...choice }] })}\n\n`;
  return `${chunk({ delta, finish_reason: null })}${chunk({ delta: {}, finish_reason: finish })}data: [DONE]\n\n`;
}
