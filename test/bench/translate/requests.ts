import type { ChatSurface } from "../../../src/domain/model.ts";

/** The formats of clients. */
export type Format = ChatSurface | "gemini";

/** A typical request with three tools and a tool call, or that of a coding agent with twenty tools, early or late. */
export type RequestSize = "usual" | "agent" | "late agent";

export const OUTPUT_TOKENS_MAX = 4_000;

const SENTENCE = "The quick brown fox jumps over the lazy dog, and the lazy dog does not mind it at all. ";
const LENGTHS = {
  usual: { system: 8, tools: 3, toolSentences: 2, turns: 2, turnSentences: 2 },
  agent: { system: 120, tools: 20, toolSentences: 16, turns: 12, turnSentences: 12 },
  "late agent": { system: 120, tools: 20, toolSentences: 16, turns: 60, turnSentences: 24 },
};

interface Asked {
  readonly format: Format;
  readonly size: RequestSize;
  readonly model: string;
  readonly stream: boolean;
}

const PATHS: Readonly<Record<ChatSurface, string>> = {
  chat: "/v1/chat/completions",
  messages: "/v1/messages",
  responses: "/v1/responses",
};

/** Encodes a request in a format, of about 3 KB, 60 KB or 180 KB, with its model and the kind of its answer. */
export function encodeRequest({ format, size, model, stream }: Asked): string {
  return JSON.stringify({
    model,
    ...BODIES[format](LENGTHS[size]),
    stream,
    ...(stream && STREAM_OPTIONS[format]),
  });
}

/** Returns the path and the body of a request. Gemini's form has model and kind in its path. */
export function requestOf(asked: Asked): { readonly path: string; readonly body: string } {
  const { format, size, model, stream } = asked;
  if (format !== "gemini") return { path: PATHS[format], body: encodeRequest(asked) };
  const method = stream ? "streamGenerateContent?alt=sse" : "generateContent";
  return { path: `/v1beta/models/${model}:${method}`, body: JSON.stringify(BODIES.gemini(LENGTHS[size])) };
}

type Lengths = (typeof LENGTHS)[RequestSize];

const STREAM_OPTIONS: Readonly<Record<Format, object>> = {
  chat: { stream_options: { include_usage: true } },
  messages: {},
  responses: {},
  gemini: {},
};

const BODIES: Readonly<Record<Format, (lengths: Lengths) => object>> = {
  chat: ({ system, turns, turnSentences, ...tools }) => ({
    messages: [
      { role: "system", content: SENTENCE.repeat(system) },
      { role: "user", content: SENTENCE },
      ...times(turns, (turn) => [
        {
          role: "assistant",
          content: "I look.",
          tool_calls: [
            { id: `call_${turn}`, type: "function", function: { name: "tool_0", arguments: INPUT } },
          ],
        },
        { role: "tool", tool_call_id: `call_${turn}`, content: SENTENCE.repeat(turnSentences) },
      ]).flat(),
      { role: "user", content: "Go on." },
    ],
    tools: toolsOf(tools, (name, description) => ({
      type: "function",
      function: { name, description, parameters: SCHEMA },
    })),
    max_completion_tokens: OUTPUT_TOKENS_MAX,
    temperature: 0.5,
  }),
  messages: ({ system, turns, turnSentences, ...tools }) => ({
    system: [{ type: "text", text: SENTENCE.repeat(system), cache_control: { type: "ephemeral" } }],
    messages: [
      { role: "user", content: [{ type: "text", text: SENTENCE }] },
      ...times(turns, (turn) => [
        {
          role: "assistant",
          content: [
            { type: "text", text: "I look." },
            { type: "tool_use", id: `call_${turn}`, name: "tool_0", input: JSON.parse(INPUT) },
          ],
        },
        {
          role: "user",
          content: [
            { type: "tool_result", tool_use_id: `call_${turn}`, content: SENTENCE.repeat(turnSentences) },
          ],
        },
      ]).flat(),
      { role: "user", content: [{ type: "text", text: "Go on." }] },
    ],
    tools: toolsOf(tools, (name, description) => ({ name, description, input_schema: SCHEMA })),
    max_tokens: OUTPUT_TOKENS_MAX,
    temperature: 0.5,
  }),
  responses: ({ system, turns, turnSentences, ...tools }) => ({
    instructions: SENTENCE.repeat(system),
    input: [
      { type: "message", role: "user", content: [{ type: "input_text", text: SENTENCE }] },
      ...times(turns, (turn) => [
        { type: "function_call", call_id: `call_${turn}`, name: "tool_0", arguments: INPUT },
        { type: "function_call_output", call_id: `call_${turn}`, output: SENTENCE.repeat(turnSentences) },
      ]).flat(),
      { type: "message", role: "user", content: [{ type: "input_text", text: "Go on." }] },
    ],
    tools: toolsOf(tools, (name, description) => ({
      type: "function",
      name,
      description,
      parameters: SCHEMA,
    })),
    max_output_tokens: OUTPUT_TOKENS_MAX,
    store: false,
  }),
  gemini: ({ system, turns, turnSentences, ...tools }) => ({
    systemInstruction: { role: "user", parts: [{ text: SENTENCE.repeat(system) }] },
    contents: [
      { role: "user", parts: [{ text: SENTENCE }] },
      ...times(turns, (turn) => [
        {
          role: "model",
          parts: [
            { text: "I look." },
            { functionCall: { id: `call_${turn}`, name: "tool_0", args: JSON.parse(INPUT) } },
          ],
        },
        {
          role: "user",
          parts: [
            {
              functionResponse: {
                id: `call_${turn}`,
                name: "tool_0",
                response: { output: SENTENCE.repeat(turnSentences) },
              },
            },
          ],
        },
      ]).flat(),
      { role: "user", parts: [{ text: "Go on." }] },
    ],
    tools: [
      {
        functionDeclarations: toolsOf(tools, (name, description) => ({
          name,
          description,
          parametersJsonSchema: SCHEMA,
        })),
      },
    ],
    generationConfig: { maxOutputTokens: OUTPUT_TOKENS_MAX, temperature: 0.5 },
  }),
};

const INPUT = JSON.stringify({ path: "src/index.ts", lines: [1, 200], pattern: "fox" });
const SCHEMA = {
  type: "object",
  properties: {
    path: { type: "string", description: "Where to look" },
    lines: { type: "array", items: { type: "integer" }, description: "From and to" },
    pattern: { type: "string" },
    recursive: { type: "boolean", default: false },
  },
  required: ["path"],
  additionalProperties: false,
};

function toolsOf(
  { tools, toolSentences }: Pick<Lengths, "tools" | "toolSentences">,
  print: (name: string, description: string) => object,
): object[] {
  return times(tools, (index) => print(`tool_${index}`, SENTENCE.repeat(toolSentences)));
}

function times<Item>(count: number, make: (index: number) => Item): Item[] {
  return Array.from({ length: count }, (_, index) => make(index));
}
