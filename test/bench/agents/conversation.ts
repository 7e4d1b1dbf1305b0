import type { ChatSurface } from "../../../src/domain/model.ts";
import { createDraw, drawInteger, drawOne, type RandomSource } from "../../support/seeded-random.ts";

/** The requests of a conversation, each with all messages before: from about 20 to 400 KB. */
export const TURNS = 20;
/** The turn whose request has about 180 KB. */
export const USUAL_TURN = 9;

/** Stands for the number of the conversation, in text of the same length. */
export const SESSION = "session_000000";

/** Returns the text that replaces {@link SESSION}, up to a million. */
export function sessionText(number: number): string {
  return `session_${`${number % 1e6}`.padStart(6, "0")}`;
}

/** What an agent asked a tool, and its result. */
interface Step {
  readonly id: string;
  readonly say: string;
  readonly tool: string;
  readonly input: Readonly<Record<string, unknown>>;
  readonly result: string;
}

interface Tool {
  readonly name: string;
  readonly description: string;
  readonly schema: object;
}

interface Conversation {
  readonly rules: string;
  readonly tools: readonly Tool[];
  readonly task: string;
  readonly steps: readonly Step[];
}

const STEPS_OF_TURN = 3;
const RULES_CHARS = 5_200;
const RESULT_CHARS = 6_150;
const WORDS =
  "the file returns a value when read and const result = await fetch(url); if (error) throw error; each line".split(
    " ",
  );
const NAMES = ["read", "write", "edit", "search", "list", "run", "fetch", "move", "diff", "plan"];

/** The conversation of every client: drawn once, equal in every process. */
const CONVERSATION = drawConversation(createDraw("agents"));

function drawConversation(draw: RandomSource): Conversation {
  const tools = Array.from({ length: 20 }, (_, at) => drawTool(draw, at));
  return {
    rules: `You are a coding agent.\n${drawText(draw, RULES_CHARS)}`,
    tools,
    task: `Work on ${SESSION}. ${drawText(draw, 800)}`,
    steps: Array.from({ length: (TURNS - 1) * STEPS_OF_TURN }, (_, at) => drawStep(draw, tools, at)),
  };
}

function drawTool(draw: RandomSource, at: number): Tool {
  const field = (number: number) => ({
    type: number % 2 ? "string" : "integer",
    description: drawText(draw, 45),
    ...(number === 3 && { enum: ["lines", "bytes", "words"] }),
  });
  const properties = Object.fromEntries(
    Array.from({ length: 4 }, (_, number) => [`field_${number}`, field(number)]),
  );
  return {
    name: `${NAMES[at % NAMES.length]}_${at}`,
    description: drawText(draw, 180),
    schema: { type: "object", properties, required: ["field_0"], additionalProperties: false },
  };
}

function drawStep(draw: RandomSource, tools: readonly Tool[], at: number): Step {
  return {
    id: `call_${at.toString(36).padStart(24, "0")}`,
    say: drawText(draw, 80),
    tool: drawOne(draw, tools).name,
    input: { field_0: at, field_1: `/src/file_${at}.ts`, field_2: drawInteger(draw, 1, 400) },
    result: drawText(draw, RESULT_CHARS),
  };
}

/** Returns source code of a sort: words, quotes and indented lines. */
function drawText(draw: RandomSource, chars: number): string {
  let text = "";
  while (text.length < chars) {
    const word = drawOne(draw, WORDS);
    const isQuoted = draw() < 0.03;
    text += (isQuoted ? `"${word}"` : word) + (draw() < 0.1 ? "\n    " : " ");
  }
  return text.slice(0, chars);
}

export interface AgentRequest {
  readonly format: ChatSurface;
  readonly model: string;
  readonly stream: boolean;
  /** From 1 to {@link TURNS}. */
  readonly turn: number;
  /** Whether lines begin with an arrow, as the files that Claude Code reads. Such text takes two bytes a character. */
  readonly hasArrows?: boolean;
}

const LINE = JSON.stringify("\n    ").slice(1, -1);
const NUMBERED_LINE = JSON.stringify("\n 1→ ").slice(1, -1);

/** Encodes the request of a turn as the clients of a format send it. */
export function encodeAgentRequest({ format, model, stream, turn, hasArrows }: AgentRequest): string {
  const steps = CONVERSATION.steps.slice(0, (turn - 1) * STEPS_OF_TURN);
  const body = JSON.stringify(BODIES[format]({ ...CONVERSATION, steps }, model, stream));
  return hasArrows ? body.replaceAll(LINE, NUMBERED_LINE) : body;
}

type Encode = (conversation: Conversation, model: string, stream: boolean) => object;

const BODIES: Readonly<Record<ChatSurface, Encode>> = {
  /** An agent on OpenAI's library. */
  chat: ({ rules, tools, task, steps }, model, stream) => ({
    model,
    messages: [
      { role: "system", content: rules },
      { role: "user", content: task },
      ...steps.flatMap(({ id, say, tool, input, result }) => [
        {
          role: "assistant",
          content: say,
          tool_calls: [{ id, type: "function", function: { name: tool, arguments: JSON.stringify(input) } }],
        },
        { role: "tool", tool_call_id: id, content: result },
      ]),
    ],
    tools: tools.map(({ name, description, schema }) => ({
      type: "function",
      function: { name, description, parameters: schema },
    })),
    tool_choice: "auto",
    max_completion_tokens: 8_192,
    stream,
    ...(stream && { stream_options: { include_usage: true } }),
  }),

  /** Claude Code: the rules and the last message are marked for the cache. */
  messages: ({ rules, tools, task, steps }, model, stream) => ({
    model,
    messages: [
      { role: "user", content: [{ type: "text", text: task, ...markLast(steps.length === 0) }] },
      ...steps.flatMap(({ id, say, tool, input, result }, at) => [
        {
          role: "assistant",
          content: [
            { type: "text", text: say },
            { type: "tool_use", id, name: tool, input },
          ],
        },
        {
          role: "user",
          content: [
            {
              tool_use_id: id,
              type: "tool_result",
              content: result,
              ...markLast(at === steps.length - 1),
            },
          ],
        },
      ]),
    ],
    system: [{ type: "text", text: rules, ...markLast(true) }],
    tools: tools.map(({ name, description, schema }) => ({ name, description, input_schema: schema })),
    metadata: { user_id: `user_bench_account__${SESSION}` },
    max_tokens: 8_192,
    temperature: 1,
    stream,
  }),

  /** Codex. */
  responses: ({ rules, tools, task, steps }, model, stream) => ({
    model,
    instructions: rules,
    input: [
      { type: "message", role: "user", content: [{ type: "input_text", text: task }] },
      ...steps.flatMap(({ id, say, tool, input, result }) => [
        { type: "message", role: "assistant", content: [{ type: "output_text", text: say }] },
        { type: "function_call", name: tool, arguments: JSON.stringify(input), call_id: id },
        { type: "function_call_output", call_id: id, output: result },
      ]),
    ],
    tools: tools.map(({ name, description, schema }) => ({
      type: "function",
      name,
      description,
      strict: false,
      parameters: schema,
    })),
    tool_choice: "auto",
    parallel_tool_calls: false,
    store: false,
    stream,
    include: ["reasoning.encrypted_content"],
    prompt_cache_key: SESSION,
  }),
};

function markLast(isMarked: boolean): object {
  return isMarked ? { cache_control: { type: "ephemeral" } } : {};
}
