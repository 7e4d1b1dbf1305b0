import type { ScriptRequest } from "./script.ts";
import { type Speech, type SpokenCall, wordsOf } from "./speech.ts";

const CHAT_ID = { id: "chatcmpl-scripted", created: 1_790_000_000 };

function chatUsage({ usage }: Speech) {
  if (!usage) return undefined;
  return {
    prompt_tokens: usage.input,
    completion_tokens: usage.output,
    total_tokens: usage.input + usage.output,
  };
}

function chatFinish({ finish, tool }: Speech): string {
  return finish ?? (tool ? "tool_calls" : "stop");
}

/** A whole answer in the shape of chat completions. */
export function chatWhole(speech: Speech) {
  const message = {
    role: "assistant",
    content: speech.text ?? null,
    refusal: null,
    ...(speech.reasoning && { reasoning_content: speech.reasoning }),
    ...(speech.tool && { tool_calls: [wholeCall(speech.tool)] }),
  };
  return {
    ...CHAT_ID,
    object: "chat.completion",
    model: speech.model ?? "upstream-secret-name",
    choices: [{ index: 0, message, logprobs: null, finish_reason: chatFinish(speech) }],
    ...(speech.usage && { usage: chatUsage(speech) }),
  };
}

/** The chunks of a streamed chat completion, usage last if the request asked for it. */
export function chatLines({ includeUsage }: ScriptRequest, speech: Speech): string[] {
  const chunk = (delta: object, finish: string | null = null) => ({
    ...CHAT_ID,
    object: "chat.completion.chunk",
    model: speech.model ?? "upstream-secret-name",
    choices: [{ index: 0, delta, logprobs: null, finish_reason: finish }],
  });
  const chunks: object[] = [chunk({ role: "assistant", content: "" })];
  if (speech.reasoning) chunks.push(chunk({ reasoning_content: speech.reasoning }));
  for (const word of wordsOf(speech.text)) chunks.push(chunk({ content: word }));
  if (speech.tool) chunks.push(...toolDeltas(speech.tool).map((call) => chunk({ tool_calls: [call] })));
  chunks.push(chunk({}, chatFinish(speech)));
  if (speech.usage && includeUsage) chunks.push({ ...chunk({}), choices: [], usage: chatUsage(speech) });
  return chunks.map((each) => JSON.stringify(each));
}

function wholeCall({ name, arguments: text }: SpokenCall): object {
  return { id: "call_1", type: "function", function: { name, arguments: text } };
}

function toolDeltas({ name, arguments: text }: SpokenCall): object[] {
  const half = Math.ceil(text.length / 2);
  return [
    { index: 0, id: "call_1", type: "function", function: { name, arguments: "" } },
    { index: 0, function: { arguments: text.slice(0, half) } },
    { index: 0, function: { arguments: text.slice(half) } },
  ];
}
