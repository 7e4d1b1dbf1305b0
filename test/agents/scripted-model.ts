import { type JsonObject, parseJsonObject } from "../../src/wire/json/read.ts";
import { answer, type Script, type ScriptRequest } from "../support/script.ts";
import { answerWith } from "../support/scripted-answers.ts";
import type { Agent } from "./agent/agent.ts";
import { type OfferedTool, readConversation } from "./conversation.ts";
import type { Errand } from "./errand.ts";
import { findObjection } from "./objection.ts";

/** A model that knows one errand: it calls a tool, looks at what that gave back, and says farewell. */
export interface ScriptedModel {
  readonly script: Script;
  /** Every request that came, in order, with what was answered. */
  readonly answered: readonly Answered[];
}

export interface Answered {
  readonly request: ScriptRequest;
  /** `call` and `farewell` are the errand's two steps; all else is beside it. */
  readonly step: "call" | "farewell" | "aside";
  /** Tokens that were reported; none where the request was for no words. */
  readonly usage: Usage | undefined;
  readonly tools: readonly string[];
  /** What the tool gave back for the call that the model made. */
  readonly result: string | undefined;
  /** Why a real provider would have refused it. */
  readonly objection: string | undefined;
}

interface Usage {
  readonly input: number;
  readonly output: number;
}

/** Each step has its own, so that what was charged tells which were. */
const USAGE = {
  call: { input: 12_347, output: 89 },
  farewell: { input: 13_577, output: 41 },
  aside: { input: 523, output: 11 },
} as const;

/** What the scripted upstream names the calls of its models. */
const CALL_IDS: readonly unknown[] = ["call_1", "toolu_1"];
/** An agent that does not bring back what a tool gave would call it for ever. */
const CALLS_MAX = 3;
const TITLE = "Making of a file";

/** The model plays its part with every protocol that the scripted upstream speaks. */
export function createScriptedModel(agent: Agent, errand: Errand): ScriptedModel {
  const answered: Answered[] = [];
  return {
    answered,
    script(request) {
      const calls = answered.filter(({ step }) => step === "call").length;
      const reply = replyTo(request, { agent, errand, isPatient: calls < CALLS_MAX });
      answered.push({ request, ...reply.said });
      return reply.script(request);
    },
  };
}

interface Part {
  readonly agent: Agent;
  readonly errand: Errand;
  readonly isPatient: boolean;
}

interface Reply {
  readonly said: Omit<Answered, "request">;
  readonly script: Script;
}

function replyTo(request: ScriptRequest, part: Part): Reply {
  const { pathname } = new URL(request.target, "http://upstream");
  const body = parseJsonObject(request.bodyText) ?? {};
  if (request.method !== "POST")
    return withoutWords({ object: "list", data: part.agent.models.map((id) => ({ id })) });
  if (pathname.endsWith("/count_tokens")) return withoutWords({ input_tokens: USAGE.call.input });
  return replyInWords(request, body, part);
}

function withoutWords(body: object): Reply {
  const said = {
    step: "aside",
    usage: undefined,
    tools: [],
    result: undefined,
    objection: undefined,
  } as const;
  return { said, script: answer({ body: JSON.stringify(body) }) };
}

function replyInWords(request: ScriptRequest, body: JsonObject, part: Part): Reply {
  const { agent, errand, isPatient } = part;
  const { tools, results } = readConversation(body);
  const tool = tools.find(({ name }) => isCalled(name, agent.tool.name));
  const result = results.find(({ callId }) => CALL_IDS.includes(callId))?.text;
  const isErrand = tool !== undefined && request.bodyText.includes(errand.name);
  const step = isErrand ? (result === undefined && isPatient ? "call" : "farewell") : "aside";
  const usage = USAGE[step];
  const objection = findObjection(body);
  const said = { step, usage, tools: tools.map(({ name }) => name), result, objection } as const;
  if (tool && step === "call") return { said, script: callsTool(tool, usage, part) };
  const text = step === "farewell" ? errand.farewell : TITLE;
  return { said, script: answerWith({ text, usage }) };
}

/** A gateway may have put a tool's namespace before its name. */
function isCalled(offered: string, name: string): boolean {
  return offered === name || offered.endsWith(`_${name}`);
}

/** It thinks and says so before it calls, as models do. */
function callsTool(offered: OfferedTool, usage: Usage, { agent, errand }: Part): Script {
  const wanted = agent.tool.input(errand);
  // A tool that takes any text is, where a protocol has none, a function with that text as its one member.
  const isText = typeof wanted === "string" && offered.takesText;
  const tool = { ...offered, arguments: isText ? wanted : JSON.stringify(asObject(wanted)) };
  return answerWith({ reasoning: "The user wants a file.", text: "I make the file.", tool, usage });
}

function asObject(wanted: string | object): object {
  return typeof wanted === "string" ? { input: wanted } : wanted;
}
