import { isJsonObject, type JsonObject, parseJsonObject, readArray } from "../../src/wire/json/read.ts";
import { COMPACTION_PROMPT } from "../../src/wire/openai-responses/items.ts";
import { SKIPPED_SIGNATURE } from "../support/google-rules.ts";
import type { ModelOutput } from "../support/model-output.ts";
import type { ScriptRequest } from "../support/script.ts";
import { type Agent, useFor } from "./agent/agent.ts";
import { type Conversation, readConversation } from "./conversation.ts";
import type { Deed, Errand } from "./errand.ts";
import type { Answering } from "./provider.ts";

/** A model that knows one errand: it calls a tool for each deed, reads the results, and ends with a text. */
export interface ScriptedModel {
  readonly answer: Answering;
  /** Every request in order, with the facts of its answer. */
  readonly answered: readonly AnsweredRequest[];
  /** What was wrong with results, in the order of the deeds. */
  readonly problems: readonly string[];
  /** How many deeds have their result. */
  readonly done: number;
}

export interface AnsweredRequest {
  readonly request: ScriptRequest;
  /** `call` and `final` are turns of the errand, `summary` replaces the conversation, `other` is unrelated. */
  readonly step: Step;
  /** Tokens that the model reported; `undefined` when the request asked for no text. */
  readonly usage: Usage | undefined;
  /** The service tier that the request asked for, and was answered with. */
  readonly tier: "priority" | undefined;
  readonly tools: readonly string[];
  /** Why Anthropic or Google would have rejected the request. */
  readonly rejection: string | undefined;
}

type Step = "call" | "final" | "summary" | "other";

interface Usage {
  readonly input: number;
  readonly output: number;
}

/** The same call is asked for at most so often, when its result does not come back. */
const CALLS_MAX = 3;
const TITLE = "An errand";
const SUMMARY_INPUT = 2_003;

/** What a model has said so far. */
interface Progress {
  done: number;
  /** Calls and summaries of the errand; each has a usage of its own. */
  turns: number;
  turnsSinceSummary: number;
  /** The id of the call without a result. */
  pending: string | undefined;
  repeats: number;
}

/** Creates the model, which answers in every format. The agent works in the folder. */
export function createScriptedModel(agent: Agent, errand: Errand, folder: string): ScriptedModel {
  const answered: AnsweredRequest[] = [];
  const problems: string[] = [];
  const progress: Progress = { done: 0, turns: 0, turnsSinceSummary: 0, pending: undefined, repeats: 0 };

  const answer: Answering = (request) => {
    const body = parseJsonObject(request.bodyText) ?? {};
    const conversation = readConversation(body);
    const { step, output } = replyTo(request, body, conversation);
    const tier = asksForPriority(body) ? "priority" : undefined;
    const usage = "body" in output ? undefined : output.usage;
    const tools = conversation.tools.map(({ name }) => name);
    answered.push({ request, step, usage, tier, tools, rejection: findRejection(body, agent) });
    return "body" in output ? output : { ...output, ...(tier && { tier }) };
  };

  function replyTo(request: ScriptRequest, body: JsonObject, conversation: Conversation) {
    const { pathname } = new URL(request.target, "http://upstream");
    if (request.method !== "POST")
      return other({ body: { object: "list", data: agent.models.map((id) => ({ id })) } });
    if (/count[-_]?tokens/i.test(pathname)) return other({ body: { input_tokens: 11 } });
    const isErrand = request.bodyText.includes(errand.name);
    if (isErrand && asksForSummary(request.bodyText, body)) return summarize(body);
    const first = useFor(agent.tools, { does: "run", command: "", shows: "" }, folder);
    const isTurn = isErrand && conversation.tools.some(({ name }) => isNamed(name, first.name));
    return isTurn ? takeTurn(conversation) : other({ text: TITLE, usage: { input: 523, output: 11 } });
  }

  function takeTurn({ tools, results }: Conversation): Reply {
    const { pending } = progress;
    const result = results.find(({ callId }) => callId === pending)?.text;
    if (result !== undefined) finishDeed(result);
    else if (pending !== undefined) progress.repeats += 1;
    const deed = progress.repeats > CALLS_MAX ? undefined : errand.deeds[progress.done];
    if (!deed) return { step: "final", output: { text: errand.finalText, usage: nextUsage() } };
    const use = useFor(agent.tools, deed, folder);
    const offered = tools.find(({ name }) => isNamed(name, use.name));
    if (!offered) {
      problems.push(`the agent does not offer ${use.name}`);
      return { step: "final", output: { text: errand.finalText, usage: nextUsage() } };
    }
    const usage = nextUsage();
    progress.pending = `call_${progress.turns}_${errand.name}`;
    // Formats without free-form tools have a function with the text as its only member.
    const isText = typeof use.input === "string" && offered.takesText;
    const input = typeof use.input === "string" ? { input: use.input } : use.input;
    const text = isText ? String(use.input) : JSON.stringify(input);
    const tool = { ...offered, id: progress.pending, arguments: text };
    return {
      step: "call",
      output: { reasoning: "A step.", text: `I do step ${progress.done}.`, tool, usage },
    };
  }

  function finishDeed(result: string): void {
    const deed = errand.deeds[progress.done];
    if (deed && !result.includes(deed.shows))
      problems.push(`the result of ${describe(deed)} was wrong: ${result.slice(0, 300)}`);
    progress.done += 1;
    progress.pending = undefined;
    progress.repeats = 0;
  }

  /** The summary replaces the results before it, also that of the last call. */
  function summarize(body: JsonObject): Reply {
    const result = readConversation(body).results.find(({ callId }) => callId === progress.pending);
    if (result) finishDeed(result.text);
    const usage = { input: SUMMARY_INPUT + progress.turns, output: 97 };
    progress.turns += 1;
    progress.turnsSinceSummary = 0;
    const text = `Summary of errand ${errand.name}: ${progress.done} steps are done.`;
    const isTrigger = isCompactionTrigger(body);
    return { step: "summary", output: isTrigger ? { compaction: text, usage } : { text, usage } };
  }

  /** Each turn has more input than the one before, and a usage of its own. */
  function nextUsage(): Usage {
    const input = 9_000 + 3_001 * progress.turnsSinceSummary + progress.turns;
    const output = 41 + progress.turns;
    progress.turns += 1;
    progress.turnsSinceSummary += 1;
    return { input, output };
  }

  return {
    answer,
    answered,
    problems,
    get done() {
      return progress.done;
    },
  };
}

interface Reply {
  readonly step: Step;
  readonly output: ModelOutput | { readonly body: object };
}

function other(output: Reply["output"]): Reply {
  return { step: "other", output };
}

function describe(deed: Deed): string {
  return deed.does === "run" ? `"${deed.command}"` : `the ${deed.does} of ${deed.file}`;
}

/** A gateway may have put the namespace of a tool before its name. */
function isNamed(offered: string, name: string): boolean {
  return offered === name || offered.endsWith(`_${name}`);
}

function asksForPriority(body: JsonObject): boolean {
  return body.service_tier === "priority" || body.serviceTier === "priority";
}

function isCompactionTrigger({ input }: JsonObject): boolean {
  const last = readArray(input).at(-1);
  return isJsonObject(last) && last.type === "compaction_trigger";
}

/** Codex has a prompt of its own where it does not ask for a compaction. */
const CODEX_PROMPT = "CONTEXT CHECKPOINT COMPACTION";

function asksForSummary(text: string, body: JsonObject): boolean {
  return (
    isCompactionTrigger(body) ||
    text.includes(JSON.stringify(COMPACTION_PROMPT).slice(1, -1)) ||
    text.includes(CODEX_PROMPT)
  );
}

/**
 * Returns why Anthropic or Google would reject a request that the scripted model accepts. With thinking enabled, an
 * answer that called a tool must come back with its signed thinking. Agents that keep signatures must not lose them.
 */
function findRejection(
  { thinking, messages, contents }: JsonObject,
  { dropsSignatures }: Agent,
): string | undefined {
  if (!dropsSignatures && JSON.stringify(contents ?? "").includes(SKIPPED_SIGNATURE))
    return "the signature of a call did not come back";
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
