import { HELLO, type ModelOutput, type OutputCall, wordsOf } from "./model-output.ts";
import { type Answer, answer, type Script, type ScriptRequest } from "./script.ts";
import { responsesLines, responsesWhole } from "./scripted-responses.ts";

/** Returns a script that answers in the format of the called path, whole or streamed as the request asks. */
export function answerWith(modelOutput: ModelOutput = HELLO, how: Omit<Answer, "body"> = {}): Script {
  return (request) => answer({ ...how, ...bodyFor(request, modelOutput, how) })(request);
}

/** The events of a streamed answer, each as JSON. */
export function streamedLines(request: ScriptRequest, modelOutput: ModelOutput): string[] {
  if (isOnResponses(request)) return responsesLines(modelOutput);
  return request.protocol === "openai" ? chatLines(request, modelOutput) : messagesLines(modelOutput);
}

/**
 * Encodes JSON events as server-sent events of a provider.
 * @see https://html.spec.whatwg.org/multipage/server-sent-events.html
 */
export function frame(protocol: "openai" | "anthropic", lines: readonly string[]): string {
  if (protocol === "openai") return `${lines.map((line) => `data: ${line}\n\n`).join("")}data: [DONE]\n\n`;
  return lines.map((line) => `event: ${typeOf(line)}\ndata: ${line}\n\n`).join("");
}

/** The headers of a streamed answer. */
export const EVENT_STREAM = { "content-type": "text/event-stream; charset=utf-8" };

function bodyFor(request: ScriptRequest, modelOutput: ModelOutput, how: Omit<Answer, "body">) {
  if (request.stream) {
    const protocol = isOnResponses(request) ? "anthropic" : request.protocol;
    const body = frame(protocol, streamedLines(request, modelOutput));
    return { headers: { ...EVENT_STREAM, ...how.headers }, body };
  }
  return { body: JSON.stringify(wholeFor(request, modelOutput)) };
}

/** The JSON of a whole answer, in the format of the called path. */
export function wholeFor(request: ScriptRequest, modelOutput: ModelOutput): object {
  if (isOnResponses(request)) return responsesWhole(modelOutput);
  return request.protocol === "openai" ? chatWhole(modelOutput) : messagesWhole(modelOutput);
}

/** OpenAI responses use the event framing of Anthropic. */
function isOnResponses({ target }: ScriptRequest): boolean {
  return target.endsWith("/responses");
}

function typeOf(line: string): string {
  const value: unknown = JSON.parse(line);
  return typeof value === "object" && value !== null && "type" in value ? String(value.type) : "";
}

const CHAT_ID = { id: "chatcmpl-scripted", created: 1_790_000_000 };

function chatUsage({ usage }: ModelOutput) {
  if (!usage) return undefined;
  return {
    prompt_tokens: usage.input,
    completion_tokens: usage.output,
    total_tokens: usage.input + usage.output,
  };
}

function chatFinish({ finish, tool }: ModelOutput): string {
  return finish ?? (tool ? "tool_calls" : "stop");
}

/**
 * A whole chat completion.
 * @see https://platform.openai.com/docs/api-reference/chat
 */
export function chatWhole(modelOutput: ModelOutput) {
  const message = {
    role: "assistant",
    content: modelOutput.text ?? null,
    refusal: null,
    ...(modelOutput.reasoning && { reasoning_content: modelOutput.reasoning }),
    ...(modelOutput.tool && { tool_calls: [wholeCall(modelOutput.tool)] }),
  };
  return {
    ...CHAT_ID,
    object: "chat.completion",
    model: modelOutput.model ?? "upstream-secret-name",
    choices: [{ index: 0, message, logprobs: null, finish_reason: chatFinish(modelOutput) }],
    ...(modelOutput.tier && { service_tier: modelOutput.tier }),
    ...(modelOutput.usage && { usage: chatUsage(modelOutput) }),
  };
}

/** The chunks of a streamed chat completion. Usage is last, if the request asks for it. */
export function chatLines({ includeUsage }: ScriptRequest, modelOutput: ModelOutput): string[] {
  const chunk = (delta: object, finish: string | null = null) => ({
    ...CHAT_ID,
    object: "chat.completion.chunk",
    model: modelOutput.model ?? "upstream-secret-name",
    choices: [{ index: 0, delta, logprobs: null, finish_reason: finish }],
    ...(modelOutput.tier && { service_tier: modelOutput.tier }),
  });
  const chunks: object[] = [chunk({ role: "assistant", content: "" })];
  if (modelOutput.reasoning) chunks.push(chunk({ reasoning_content: modelOutput.reasoning }));
  for (const word of wordsOf(modelOutput.text)) chunks.push(chunk({ content: word }));
  if (modelOutput.tool)
    chunks.push(...toolDeltas(modelOutput.tool).map((call) => chunk({ tool_calls: [call] })));
  chunks.push(chunk({}, chatFinish(modelOutput)));
  if (modelOutput.usage && includeUsage)
    chunks.push({ ...chunk({}), choices: [], usage: chatUsage(modelOutput) });
  return chunks.map((each) => JSON.stringify(each));
}

function wholeCall({ id = "call_1", name, arguments: text }: OutputCall): object {
  return { id, type: "function", function: { name, arguments: text } };
}

function toolDeltas({ id = "call_1", name, arguments: text }: OutputCall): object[] {
  const half = Math.ceil(text.length / 2);
  return [
    { index: 0, id, type: "function", function: { name, arguments: "" } },
    { index: 0, function: { arguments: text.slice(0, half) } },
    { index: 0, function: { arguments: text.slice(half) } },
  ];
}

function messagesUsage({ usage }: ModelOutput) {
  return usage && { input_tokens: usage.input, output_tokens: usage.output };
}

function messagesFinish({ finish, tool }: ModelOutput): string {
  return finish ?? (tool ? "tool_use" : "end_turn");
}

/**
 * A whole answer of the messages API.
 * @see https://docs.anthropic.com/en/api/messages
 */
export function messagesWhole(modelOutput: ModelOutput) {
  const content: object[] = [];
  if (modelOutput.reasoning)
    content.push({ type: "thinking", thinking: modelOutput.reasoning, signature: "c2lnbmF0dXJl" });
  if (modelOutput.text !== undefined) content.push({ type: "text", text: modelOutput.text });
  if (modelOutput.tool) {
    const { id = "toolu_1", name, arguments: text } = modelOutput.tool;
    const input: unknown = JSON.parse(text);
    content.push({ type: "tool_use", id, name, input });
  }
  return {
    id: "msg_scripted",
    type: "message",
    role: "assistant",
    model: modelOutput.model ?? "upstream-secret-name",
    content,
    stop_reason: messagesFinish(modelOutput),
    stop_sequence: null,
    ...(modelOutput.usage && { usage: messagesUsage(modelOutput) }),
  };
}

/** The events of a streamed message. The first and the last report usage, as the provider does. */
export function messagesLines(modelOutput: ModelOutput): string[] {
  const { usage } = modelOutput;
  const start = { ...messagesWhole({ ...modelOutput, text: "" }), content: [], stop_reason: null };
  const message = { ...start, ...(usage && { usage: { input_tokens: usage.input, output_tokens: 1 } }) };
  const events: object[] = [{ type: "message_start", message }, { type: "ping" }];
  let index = 0;
  const block = (content_block: object, deltas: readonly object[]) => {
    events.push({ type: "content_block_start", index, content_block });
    for (const delta of deltas) events.push({ type: "content_block_delta", index, delta });
    events.push({ type: "content_block_stop", index: index++ });
  };
  const { reasoning, text, tool } = modelOutput;
  if (reasoning) {
    const signature = { type: "signature_delta", signature: "c2lnbmF0dXJl" };
    block({ type: "thinking", thinking: "", signature: "" }, [
      { type: "thinking_delta", thinking: reasoning },
      signature,
    ]);
  }
  if (text !== undefined) {
    block(
      { type: "text", text: "" },
      wordsOf(text).map((word) => ({ type: "text_delta", text: word })),
    );
  }
  if (tool) {
    block({ type: "tool_use", id: tool.id ?? "toolu_1", name: tool.name, input: {} }, [
      { type: "input_json_delta", partial_json: tool.arguments },
    ]);
  }
  const delta = { stop_reason: messagesFinish(modelOutput), stop_sequence: null };
  events.push({ type: "message_delta", delta, ...(usage && { usage: messagesUsage(modelOutput) }) });
  events.push({ type: "message_stop" });
  return events.map((event) => JSON.stringify(event));
}

/** Exact as 32-bit floats, so that both encodings carry the same numbers. */
export const VECTOR = [0.5, -0.25, 0.125];

/**
 * Returns a script that answers an embeddings request: one vector per prompt, in the requested encoding.
 * @see https://platform.openai.com/docs/api-reference/embeddings
 */
export function answerEmbeddings(
  usage: object | undefined = { prompt_tokens: 11, total_tokens: 11 },
  how: Omit<Answer, "body"> = {},
): Script {
  return (request) => {
    const { input, encoding_format: encoding }: Record<string, unknown> = JSON.parse(request.bodyText);
    const data = Array.from({ length: promptsOf(input) }, (_, index) => ({
      object: "embedding",
      index,
      embedding: encoding === "base64" ? base64Of(VECTOR) : VECTOR,
    }));
    const body = JSON.stringify({ object: "list", data, model: "upstream-secret-name", usage });
    return answer({ ...how, body })(request);
  };
}

function promptsOf(input: unknown): number {
  return Array.isArray(input) && typeof input[0] !== "number" ? input.length : 1;
}

function base64Of(numbers: readonly number[]): string {
  return Buffer.from(Float32Array.from(numbers).buffer).toString("base64");
}
