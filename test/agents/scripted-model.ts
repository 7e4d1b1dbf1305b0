import { isJsonObject, type JsonObject, parseJsonObject, readArray } from "../../src/wire/json/read.ts";
import type { ModelOutput } from "../support/model-output.ts";
import { answer, type Script, type ScriptRequest } from "../support/script.ts";
import { answerWith } from "../support/scripted-answers.ts";
import { chunkOf, type GoogleScript, type Json, joinChunks, streamOf } from "../support/scripted-google.ts";
import type { Agent } from "./agent/agent.ts";
import { type OfferedTool, readConversation } from "./conversation.ts";
import type { Task } from "./task.ts";

/** A model that knows one task: it calls a tool, reads the result, and ends with a text. */
export interface ScriptedModel {
  readonly script: Script;
  /** The same model at an upstream that speaks Gemini's format. */
  readonly google: GoogleScript;
  /** Every request in order, with the facts of its answer. */
  readonly answered: readonly AnsweredRequest[];
}

export interface AnsweredRequest {
  readonly request: ScriptRequest;
  /** `call` and `final` are the steps of the task. Every unrelated request is `other`. */
  readonly step: "call" | "final" | "other";
  /** Tokens that the model reported; `undefined` when the request asked for no text. */
  readonly usage: Usage | undefined;
  readonly tools: readonly string[];
  /** The tool result for the model's call. */
  readonly result: string | undefined;
  /** Why Anthropic would have rejected the request. */
  readonly rejection: string | undefined;
}

interface Usage {
  readonly input: number;
  readonly output: number;
}

/** Each step has a distinct usage, so that the charge reveals which steps were charged. */
const USAGE = {
  call: { input: 12_347, output: 89 },
  final: { input: 13_577, output: 41 },
  other: { input: 523, output: 11 },
} as const;

/** Call ids that the scripted upstream sends. */
const CALL_IDS: readonly unknown[] = ["call_1", "toolu_1"];
/** Calls per task. An agent that never returns a result would otherwise be asked to call forever. */
const CALLS_MAX = 3;
const TITLE = "Making of a file";

/** Creates the model, which answers in every format that the scripted upstream has. */
export function createScriptedModel(agent: Agent, task: Task): ScriptedModel {
  const answered: AnsweredRequest[] = [];
  return {
    answered,
    script(request) {
      const calls = answered.filter(({ step }) => step === "call").length;
      const reply = replyTo(request, { agent, task, mayCall: calls < CALLS_MAX });
      answered.push({ request, ...reply.facts });
      return reply.script(request);
    },
    google({ path, body }, isStream) {
      const calls = answered.filter(({ step }) => step === "call").length;
      const request = { ...GOOGLE_REQUEST, target: path, bodyText: JSON.stringify(body), stream: isStream };
      const { facts, output } = replyTo(request, { agent, task, mayCall: calls < CALLS_MAX });
      answered.push({ request, ...facts });
      return isStream ? streamOf(chunksOf(output)) : Response.json(joinChunks(chunksOf(output)));
    },
  };
}

const GOOGLE_REQUEST = {
  method: "POST",
  headers: {},
  protocol: "openai",
  model: undefined,
  includeUsage: false,
} as const;
const SIGNATURE = "c2lnbmF0dXJl";

/** The answer in chunks of Gemini's. Its call is signed, and the signature must come back with the call. */
function chunksOf({ reasoning, text, tool, usage }: ModelOutput = {}): readonly Json[] {
  const call = tool && { id: "call_1", name: tool.name, args: JSON.parse(tool.arguments) };
  const parts = [
    ...(reasoning ? [{ text: reasoning, thought: true }] : []),
    ...(text ? [{ text }] : []),
    ...(call ? [{ functionCall: call, thoughtSignature: SIGNATURE }] : []),
  ];
  const { input = 0, output = 0 } = usage ?? {};
  const usageMetadata = {
    promptTokenCount: input,
    candidatesTokenCount: output,
    totalTokenCount: input + output,
  };
  return [...parts.map((part) => chunkOf([part])), chunkOf([], { usageMetadata }, "STOP")];
}

interface ReplyContext {
  readonly agent: Agent;
  readonly task: Task;
  readonly mayCall: boolean;
}

interface Reply {
  readonly facts: Omit<AnsweredRequest, "request">;
  readonly script: Script;
  /** What the model generates; `undefined` for an answer without text. */
  readonly output?: ModelOutput;
}

function replyTo(request: ScriptRequest, context: ReplyContext): Reply {
  const { pathname } = new URL(request.target, "http://upstream");
  const body = parseJsonObject(request.bodyText) ?? {};
  if (request.method !== "POST")
    return replyWithBody({ object: "list", data: context.agent.models.map((id) => ({ id })) });
  if (pathname.endsWith("/count_tokens")) return replyWithBody({ input_tokens: USAGE.call.input });
  return replyWithText(request, body, context);
}

function replyWithBody(body: object): Reply {
  const facts = {
    step: "other",
    usage: undefined,
    tools: [],
    result: undefined,
    rejection: undefined,
  } as const;
  return { facts, script: answer({ body: JSON.stringify(body) }) };
}

function replyWithText(request: ScriptRequest, body: JsonObject, context: ReplyContext): Reply {
  const { agent, task, mayCall } = context;
  const { tools, results } = readConversation(body);
  const tool = tools.find(({ name }) => isNamed(name, agent.tool.name));
  const result = results.find(({ callId }) => CALL_IDS.includes(callId))?.text;
  const isTask = tool !== undefined && request.bodyText.includes(task.name);
  const step = isTask ? (result === undefined && mayCall ? "call" : "final") : "other";
  const usage = USAGE[step];
  const rejection = findRejection(body);
  const facts = { step, usage, tools: tools.map(({ name }) => name), result, rejection } as const;
  const text = step === "final" ? task.finalText : TITLE;
  const output = tool && step === "call" ? callTool(tool, usage, context) : { text, usage };
  return { facts, script: answerWith(output), output };
}

/** A gateway may have put the namespace of a tool before its name. */
function isNamed(offered: string, name: string): boolean {
  return offered === name || offered.endsWith(`_${name}`);
}

/** Answers with reasoning, a text and the call, as models do. */
function callTool(offered: OfferedTool, usage: Usage, { agent, task }: ReplyContext): ModelOutput {
  const input = agent.tool.input(task);
  // Formats without free-form tools have a function with the text as its only member.
  const isText = typeof input === "string" && offered.takesText;
  const tool = { ...offered, arguments: isText ? input : JSON.stringify(asObject(input)) };
  return { reasoning: "The user wants a file.", text: "I make the file.", tool, usage };
}

function asObject(input: string | object): object {
  return typeof input === "string" ? { input } : input;
}

/**
 * Returns why Anthropic or Google would reject a request that the scripted model accepts. With thinking enabled, an
 * answer that called a tool must come back with its signed thinking.
 */
function findRejection({ thinking, messages, contents }: JsonObject): string | undefined {
  const parts = readArray(contents)
    .filter(isJsonObject)
    .flatMap((content) => readArray(content.parts));
  const isUnsigned = parts.some(
    (part) => isJsonObject(part) && isJsonObject(part.functionCall) && part.thoughtSignature !== SIGNATURE,
  );
  if (isUnsigned) return "the signature of a call did not come back";
  if (!isJsonObject(thinking) || thinking.type === "disabled") return undefined;
  const turns = readArray(messages).filter(isJsonObject);
  const calls = turns.map(({ content }) => readArray(content).filter(isJsonObject)).filter(hasCall);
  const lacksThinking = calls.some(
    ([first]) => first?.type !== "thinking" || first.signature !== "c2lnbmF0dXJl",
  );
  return lacksThinking ? "the thinking before a call did not come back" : undefined;
}

function hasCall(blocks: readonly JsonObject[]): boolean {
  return blocks.some(({ type }) => type === "tool_use");
}
