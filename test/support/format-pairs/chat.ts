import { assertRead, framesOf, type Json, listAt, objectAt, textAt } from "../strict-json.ts";
import {
  type Finish,
  type NeutralAnswer,
  type NeutralCall,
  type NeutralUsage,
  piecesOf,
} from "./neutral-answer.ts";

/** The model name is the upstream's own, which clients must not see. */
const HEAD = { id: "chatcmpl-scripted", created: 1_790_000_000, model: "upstream-secret-name" };

/**
 * Encodes an answer as a chat completion.
 * @see https://platform.openai.com/docs/api-reference/chat
 */
export function printChat({ reasoning, text, refusal, calls, finish, usage }: NeutralAnswer): Json {
  const message = {
    role: "assistant",
    content: text || null,
    refusal: refusal || null,
    ...(reasoning && { reasoning_content: reasoning }),
    ...(calls.length > 0 && { tool_calls: calls.map(printCall) }),
  };
  const choices = [{ index: 0, message, logprobs: null, finish_reason: finish }];
  return { ...HEAD, object: "chat.completion", choices, ...(usage && { usage: printUsage(usage) }) };
}

/** Encodes an answer as stream chunks. Several calls are interleaved; usage is last. */
export function printChatLines({ reasoning, text, refusal, calls, finish, usage }: NeutralAnswer): string[] {
  const deltas = [
    { role: "assistant", content: "", refusal: null },
    ...piecesOf(reasoning).map((piece) => ({ reasoning_content: piece })),
    ...piecesOf(text).map((piece) => ({ content: piece })),
    ...piecesOf(refusal).map((piece) => ({ refusal: piece })),
    ...interleave(calls).map((call) => ({ tool_calls: [call] })),
  ];
  const chunks = [
    ...deltas.map((delta) => chunkOf([choiceOf(delta, null)])),
    chunkOf([choiceOf({}, finish)]),
    ...(usage ? [{ ...chunkOf([]), usage: printUsage(usage) }] : []),
  ];
  return chunks.map((chunk) => JSON.stringify(chunk));
}

/** Merges stream chunks into a whole chat completion. Accepts the variants of different hosts. */
export function collectChat(chunks: readonly Json[]): Json {
  const sum = { content: "", reasoning_content: "", refusal: "" };
  const calls: CallSum[] = [];
  let finish = "";
  let usage: unknown;
  for (const chunk of chunks) {
    usage = chunk.usage ?? usage;
    const [choice] = listAt(chunk.choices).map((each) => objectAt(each, "a choice"));
    if (!choice) continue;
    const delta = objectAt(choice.delta, "a delta");
    sum.content += textAt(delta.content);
    sum.reasoning_content += textAt(delta.reasoning_content) || textAt(delta.reasoning);
    sum.refusal += textAt(delta.refusal);
    finish ||= textAt(choice.finish_reason);
    for (const call of listAt(delta.tool_calls)) addFragment(calls, objectAt(call, "a call"));
  }
  const message = { role: "assistant", ...sum, ...(calls.length > 0 && { tool_calls: calls }) };
  const choices = [{ index: 0, message, logprobs: null, finish_reason: finish }];
  return { ...HEAD, object: "chat.completion", choices, ...(usage !== undefined && { usage }) };
}

interface CallSum {
  readonly id: string;
  readonly type: "function";
  readonly function: { readonly name: string; readonly arguments: string };
}

function addFragment(calls: CallSum[], { index, id, function: given }: Json): void {
  const { name, arguments: piece } = objectAt(given, "a function");
  const known = calls[Number(index)] ?? {
    id: textAt(id),
    type: "function",
    function: { name: textAt(name), arguments: "" },
  };
  const grown = { ...known.function, arguments: known.function.arguments + textAt(piece) };
  calls[Number(index)] = { ...known, function: grown };
}

/** Decodes a whole chat completion. */
export function readChat(body: Json): NeutralAnswer {
  const choice = objectAt(listAt(body.choices)[0], "a choice");
  const message = objectAt(choice.message, "a message");
  return {
    reasoning: textAt(message.reasoning_content) || textAt(message.reasoning),
    text: textAt(message.content),
    refusal: textAt(message.refusal),
    calls: listAt(message.tool_calls).map(readCall),
    finish: readFinish(choice.finish_reason),
    usage: body.usage === undefined ? undefined : readUsage(objectAt(body.usage, "a usage")),
  };
}

function readCall(each: unknown): NeutralCall {
  const { id, type, function: given } = objectAt(each, "a call");
  const { name, arguments: input } = objectAt(given, "a function");
  assertRead(type === "function", "a call of another type");
  return { id: textAt(id), name: textAt(name), input: JSON.parse(textAt(input)) };
}

function readFinish(word: unknown): Finish {
  if (word === "stop" || word === "length" || word === "tool_calls" || word === "content_filter") return word;
  throw new Error(`The client read a finish of ${word}`);
}

function readUsage(usage: Json): NeutralUsage {
  const details = objectAt(usage.prompt_tokens_details ?? {}, "details");
  const cached = Number(details.cached_tokens ?? 0);
  const written = Number(details.cache_write_tokens ?? 0);
  const prompt = Number(usage.prompt_tokens);
  const output = Number(usage.completion_tokens);
  assertRead(usage.total_tokens === prompt + output, "an invalid total");
  return { input: prompt - cached - written, cached, written, output };
}

function printUsage({ input, cached, written, output }: NeutralUsage): Json {
  const prompt = input + cached + written;
  return {
    prompt_tokens: prompt,
    completion_tokens: output,
    total_tokens: prompt + output,
    prompt_tokens_details: { cached_tokens: cached, cache_write_tokens: written },
  };
}

function printCall({ id, name, input }: NeutralCall): Json {
  return { id, type: "function", function: { name, arguments: JSON.stringify(input) } };
}

function choiceOf(delta: object, finish: string | null): Json {
  return { index: 0, delta, logprobs: null, finish_reason: finish };
}

function chunkOf(choices: readonly Json[]): Json {
  return { ...HEAD, object: "chat.completion.chunk", choices };
}

/** Starts all calls first, then sends their arguments alternately, as some hosts do. */
function interleave(calls: readonly NeutralCall[]): Json[] {
  const inputs = calls.map(({ input }) => piecesOf(JSON.stringify(input)));
  const rounds = Array.from({ length: Math.max(0, ...inputs.map(({ length }) => length)) }, (_, round) =>
    inputs.flatMap((pieces, index) => {
      const piece = pieces[round];
      return piece === undefined ? [] : [{ index, function: { arguments: piece } }];
    }),
  );
  const starts = calls.map(({ id, name }, index) => ({
    index,
    id,
    type: "function",
    function: { name, arguments: "" },
  }));
  return [...starts, ...rounds.flat()];
}

/** Parses a chat stream strictly and returns its chunks. Throws at the first violation of the format. */
export function readStrictChat(body: string, model: string, wantsUsage: boolean): Json[] {
  const jsons = framesOf(body).map(({ json }) => json);
  assertRead(jsons.at(-1) === "[DONE]", "a stream without its end marker");
  const chunks = jsons.slice(0, -1).map((json) => objectAt(json, "a chunk"));
  const heads = chunks.map(({ id, object, created, model: name }) => `${id} ${object} ${created} ${name}`);
  assertRead(new Set(heads).size === 1, "chunks that are not of one answer");
  assertRead(/^chatcmpl-\w+ chat\.completion\.chunk \d{10} /.test(heads[0] ?? ""), "an invalid head");
  assertRead(chunks[0]?.model === model, "another model's name");
  checkUsage(chunks, wantsUsage);
  checkChoices(wantsUsage ? chunks.slice(0, -1) : chunks);
  return chunks;
}

/** Usage must be on one last chunk; all other chunks must have `usage: null`. */
function checkUsage(chunks: readonly Json[], wantsUsage: boolean): void {
  const last = chunks.at(-1);
  if (!wantsUsage) {
    assertRead(!chunks.some(({ usage }) => usage), "usage that it has not asked for");
    return;
  }
  assertRead(listAt(last?.choices).length === 0 && Array.isArray(last?.choices), "usage beside a choice");
  assertRead(last?.usage !== undefined, "no usage");
  assertRead(
    chunks.slice(0, -1).every(({ usage }) => usage === null),
    "usage twice",
  );
}

function checkChoices(chunks: readonly Json[]): void {
  const choices = chunks.map((chunk) => {
    assertRead(listAt(chunk.choices).length === 1, "a chunk without one choice");
    return objectAt(listAt(chunk.choices)[0], "a choice");
  });
  let calls = 0;
  choices.forEach((choice, at) => {
    const isLast = at === choices.length - 1;
    const delta = objectAt(choice.delta, "a delta");
    assertRead(choice.index === 0 && choice.logprobs === null, "a choice of another shape");
    assertRead(
      isLast ? textAt(choice.finish_reason) !== "" : choice.finish_reason === null,
      "a finish out of place",
    );
    assertRead((delta.role === "assistant") === (at === 0), "a role out of place");
    for (const call of listAt(delta.tool_calls)) calls = checkCall(objectAt(call, "a call"), calls);
  });
}

/** Returns the number of calls that have begun. */
function checkCall({ index, id, type, function: given }: Json, begun: number): number {
  const { name, arguments: input } = objectAt(given, "a function");
  assertRead(typeof input === "string", "arguments that are no text");
  if (index === begun) {
    assertRead(type === "function" && textAt(id) !== "" && textAt(name) !== "", "a call that is not named");
    return begun + 1;
  }
  assertRead(Number.isInteger(index) && Number(index) < begun, "a call out of order");
  assertRead(id === undefined && name === undefined && type === undefined, "a call named twice");
  return begun;
}
