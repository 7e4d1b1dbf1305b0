import type { RandomSource } from "../support/seeded-random.ts";

/** The tokens of an answer, as its upstream counts them. */
export interface Tokens {
  readonly input: number;
  readonly output: number;
}

/** What an answer is made of. */
interface AnswerParts {
  readonly words: number;
  /** As its format reports it; `undefined` to leave it out. */
  readonly usage: object | undefined;
  /** Whether a stream has its finish. */
  readonly isFinished: boolean;
}

/** How the answers of one wire format are written. */
export interface AnswerFormat {
  honest(tokens: Tokens): object;
  /** Usage that cannot be. */
  lies(tokens: Tokens): readonly object[];
  whole(parts: AnswerParts): string;
  /** The events of a stream, in the pieces in which they are sent. */
  stream(parts: AnswerParts, draw: RandomSource): readonly string[];
}

/** Values that are no count, or far too many. */
function liesOf(honest: object, input: string, output: string): readonly object[] {
  return [
    { ...honest, [output]: -3 },
    { ...honest, [output]: 1.5 },
    { ...honest, [output]: 1e15 },
    { ...honest, [input]: 1e12 },
    { ...honest, [input]: "many" },
    { ...honest, [input]: null },
    {},
  ];
}

/** The texts of an answer, three words each. */
function textsOf(words: number): readonly string[] {
  return Array.from({ length: Math.ceil(words / 3) }, (_, place) =>
    "word ".repeat(Math.min(3, words - 3 * place)),
  );
}

/** @see https://platform.openai.com/docs/api-reference/chat */
export const CHAT: AnswerFormat = {
  honest: ({ input, output }) => ({
    prompt_tokens: input,
    completion_tokens: output,
    total_tokens: input + output,
  }),
  lies: (tokens) => liesOf(CHAT.honest(tokens), "prompt_tokens", "completion_tokens"),
  whole({ words, usage }) {
    const message = { role: "assistant", content: words === 0 ? null : "word ".repeat(words) };
    return JSON.stringify({
      ...{ id: "c", created: 1, object: "chat.completion", model: "theirs" },
      choices: [{ index: 0, message, finish_reason: "stop" }],
      ...(usage && { usage }),
    });
  },
  stream({ words, usage, isFinished }, draw) {
    const chunk = (more: object) =>
      `data: ${JSON.stringify({ id: "c", created: 1, object: "chat.completion.chunk", model: "theirs", ...more })}\n\n`;
    const choice = (delta: object, finish: string | null = null) =>
      chunk({ choices: [{ index: 0, delta, finish_reason: finish }] });
    const chunks = [choice({ role: "assistant", content: "" })];
    for (const content of textsOf(words)) chunks.push(choice({ content }));
    const end = choice({}, "stop") + (usage ? chunk({ choices: [], usage }) : "");
    if (isFinished) chunks.push(draw() < 0.5 ? `${end}data: [DONE]\n\n` : end, "data: [DONE]\n\n");
    return chunks;
  },
};

/** @see https://docs.anthropic.com/en/api/messages-streaming */
export const MESSAGES: AnswerFormat = {
  honest: ({ input, output }) => ({ input_tokens: input, output_tokens: output }),
  lies: (tokens) => liesOf(MESSAGES.honest(tokens), "input_tokens", "output_tokens"),
  whole({ words, usage }) {
    const content = words === 0 ? [] : [{ type: "text", text: "word ".repeat(words) }];
    return JSON.stringify({ ...messageOf(usage), content, stop_reason: "end_turn" });
  },
  stream({ words, usage, isFinished }) {
    const event = (type: string, more: object) =>
      `event: ${type}\ndata: ${JSON.stringify({ type, ...more })}\n\n`;
    // The start counts one output token, and the end all of them.
    const chunks = [event("message_start", { message: messageOf(usage && { ...usage, output_tokens: 1 }) })];
    if (words > 0)
      chunks.push(event("content_block_start", { index: 0, content_block: { type: "text", text: "" } }));
    for (const text of textsOf(words))
      chunks.push(event("content_block_delta", { index: 0, delta: { type: "text_delta", text } }));
    if (words > 0) chunks.push(event("content_block_stop", { index: 0 }));
    const delta = { stop_reason: "end_turn", stop_sequence: null };
    if (isFinished)
      chunks.push(event("message_delta", { delta, ...(usage && { usage }) }), event("message_stop", {}));
    return chunks;
  },
};

/** @see https://ai.google.dev/api/generate-content#method:-models.streamgeneratecontent */
export const GEMINI: AnswerFormat = {
  honest: ({ input, output }) => ({
    promptTokenCount: input,
    candidatesTokenCount: output,
    totalTokenCount: input + output,
  }),
  lies: (tokens) => liesOf(GEMINI.honest(tokens), "promptTokenCount", "candidatesTokenCount"),
  whole({ words, usage }) {
    return JSON.stringify(generated("word ".repeat(words), { usage, isFinished: true }));
  },
  /** The stream has no end mark. Usage may come behind the finish, in one piece with it. */
  stream({ words, usage, isFinished }, draw) {
    const chunk = (response: object) => `data: ${JSON.stringify(response)}\r\n\r\n`;
    const chunks = textsOf(words).map((text) => chunk(generated(text, { usage: undefined })));
    if (!isFinished) return chunks;
    const isApart = draw() < 0.3;
    const finish = chunk(generated("", { usage: isApart ? undefined : usage, isFinished }));
    const behind = isApart && usage ? chunk({ usageMetadata: usage, modelVersion: "theirs" }) : "";
    return [...chunks, finish + behind];
  },
};

function generated(
  text: string,
  { usage, isFinished = false }: { readonly usage: object | undefined; readonly isFinished?: boolean },
): object {
  const content = { role: "model", ...(text !== "" && { parts: [{ text }] }) };
  return {
    candidates: [{ content, index: 0, ...(isFinished && { finishReason: "STOP" }) }],
    ...(usage && { usageMetadata: usage }),
    modelVersion: "theirs",
  };
}

function messageOf(usage: object | undefined): object {
  return {
    ...{ id: "m", type: "message", role: "assistant", model: "theirs" },
    ...{ content: [], stop_reason: null, stop_sequence: null },
    ...(usage && { usage }),
  };
}
