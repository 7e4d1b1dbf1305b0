import { findBodyProblem } from "../../support/google-rules.ts";
import { assertRead, isObject, type Json, listAt, objectAt, textAt } from "../../support/strict-json.ts";
import { isCount } from "./expected.ts";

/** The members that a translated request must have. */
export interface ExpectedRequest {
  readonly model: string;
  readonly stream: boolean;
  /** The output limit; `undefined` when it is not known. */
  readonly outputTokensMax: number | undefined;
}

/** Decodes a translated chat request like the strictest host. Throws at the first violation. */
export function readTranslatedChat(text: string, { model, stream, outputTokensMax }: ExpectedRequest): void {
  const body = objectAt(JSON.parse(text), "a body");
  assertRead(body.model === model, "another model's name");
  assertRead((body.stream === true) === stream, "another kind of answer");
  if (stream) assertRead(Object(body.stream_options).include_usage === true, "no wish for usage");
  const limits = [body.max_tokens, body.max_completion_tokens].filter((each) => each !== undefined);
  assertRead(limits.length === 1 && isCount(limits[0]), "no output limit, or two");
  if (outputTokensMax !== undefined) assertRead(limits[0] === outputTokensMax, "another output limit");
  const messages = listAt(body.messages);
  assertRead(messages.length > 0, "no messages");
  for (const each of messages) readMessage(objectAt(each, "a message"));
  readChatTools(body);
  const { stop, temperature } = body;
  if (stop !== undefined) {
    const words = Array.isArray(stop) ? stop : [stop];
    assertRead(words.length > 0 && words.length <= 4, "no stop sequence, or too many");
    assertRead(
      words.every((word) => typeof word === "string"),
      "an invalid stop sequence",
    );
  }
  // The host judges the range of the temperature.
  assertRead(temperature === undefined || typeof temperature === "number", "an invalid temperature");
}

/** The part types that each role allows. */
const PARTS: Readonly<Record<string, readonly string[]>> = {
  system: ["text"],
  user: ["text", "image_url", "file"],
  assistant: ["text"],
  tool: ["text"],
};

function readMessage({ role, content, tool_calls: calls, tool_call_id: callId }: Json): void {
  const types = PARTS[textAt(role)];
  assertRead(types !== undefined, `a role of ${String(role)}`);
  if (typeof content !== "string") {
    const isCaller = role === "assistant" && content === null && calls !== undefined;
    assertRead(isCaller || listAt(content).length > 0, "an invalid content");
  }
  for (const part of listAt(content)) readPart(objectAt(part, "a part"), types);
  if (role === "tool") assertRead(isId(callId, 40), "a result without its call");
  assertRead(calls === undefined || listAt(calls).length > 0, "no calls in a list of them");
  for (const each of listAt(calls)) readCall(objectAt(each, "a call"));
}

function readPart(part: Json, types: readonly string[]): void {
  assertRead(types.includes(textAt(part.type)), "an invalid part");
  if (part.type === "text") assertRead(typeof part.text === "string", "an invalid text");
  if (part.type === "image_url")
    assertRead(textAt(objectAt(part.image_url, "an image").url) !== "", "an image without address");
}

function readCall({ id, type, function: called }: Json): void {
  assertRead(isId(id, 40) && type === "function", "a call without id or type");
  const { name, arguments: input } = objectAt(called, "a function");
  assertRead(isId(name, 64), "a call without name");
  objectAt(JSON.parse(textAt(input)), "arguments");
}

function readChatTools({ tools, tool_choice: choice, parallel_tool_calls: parallel }: Json): void {
  if (tools === undefined) {
    assertRead(choice === undefined && parallel === undefined, "a choice of no tools");
    return;
  }
  assertRead(listAt(tools).length > 0, "no tools in a list of them");
  for (const each of listAt(tools)) {
    const { type, function: offered } = objectAt(each, "a tool");
    const { name, parameters } = objectAt(offered, "a function");
    assertRead(type === "function" && isId(name, 64), "a tool without type or name");
    assertRead(parameters === undefined || isObject(parameters), "parameters that are no schema");
  }
  if (choice === undefined || typeof choice === "string") {
    assertRead(choice === undefined || ["auto", "none", "required"].includes(choice), "an invalid choice");
  } else
    assertRead(
      isId(objectAt(objectAt(choice, "a choice").function, "a function").name, 64),
      "a choice of no name",
    );
}

/** Letters, digits, _ and -. */
function isId(value: unknown, charsMax: number): boolean {
  return /^[\w-]+$/.test(textAt(value)) && textAt(value).length <= charsMax;
}

/** Decodes a translated messages request like Anthropic. Throws at the first violation. */
export function readTranslatedMessages(
  text: string,
  { model, stream, outputTokensMax }: ExpectedRequest,
): void {
  const body = objectAt(JSON.parse(text), "a body");
  assertRead(body.model === model, "another model's name");
  assertRead((body.stream === true) === stream, "another kind of answer");
  assertRead(isCount(body.max_tokens), "no output limit");
  if (outputTokensMax !== undefined) assertRead(body.max_tokens === outputTokensMax, "another output limit");
  assertRead(listAt(body.messages).length > 0, "no messages");
  let previous: unknown;
  for (const each of listAt(body.messages)) {
    const { role, content } = objectAt(each, "a message");
    assertRead(role !== previous, "two messages of one role in a row");
    assertRead(previous !== undefined || role === "user", "an answer without a question");
    previous = role;
    readContent(role, content);
  }
  if (body.system !== undefined) readSystem(body.system);
  readMessagesTools(body);
  readSampling(body);
}

function readSystem(system: unknown): void {
  assertRead(listAt(system).length > 0 || textAt(system).trim() !== "", "a system text that is empty");
  for (const block of listAt(system)) readBlock("system", objectAt(block, "a block"));
}

const BLOCKS: Readonly<Record<string, readonly string[]>> = {
  system: ["text"],
  user: ["text", "image", "document", "tool_result"],
  assistant: ["text", "tool_use", "thinking", "redacted_thinking"],
  tool_result: ["text", "image", "document"],
};

function readContent(role: unknown, content: unknown): void {
  assertRead(listAt(content).length > 0 || textAt(content).trim() !== "", "a message without content");
  let isBehindResults = false;
  for (const each of listAt(content)) {
    const block = objectAt(each, "a block");
    if (block.type !== "tool_result") isBehindResults = true;
    else assertRead(!isBehindResults, "a result behind something else");
    readBlock(textAt(role), block);
  }
}

function readBlock(place: string, block: Json): void {
  assertRead(listAt(BLOCKS[place]).includes(block.type), `a block of type ${String(block.type)} in ${place}`);
  if (block.type === "text") assertRead(textAt(block.text).trim() !== "", "a text that is empty");
  if (block.type === "tool_use") {
    assertRead(
      isId(block.id, 64) && isId(block.name, 128) && isObject(block.input),
      "a call without id, name or input",
    );
  }
  if (block.type === "tool_result") {
    assertRead(isId(block.tool_use_id, 64), "a result without its call");
    const { content } = block;
    if (content === undefined || typeof content === "string") return;
    for (const each of listAt(content)) readBlock("tool_result", objectAt(each, "a block"));
  }
  if (block.type === "image") readImage(objectAt(block.source, "a source"));
}

function readImage({ type, media_type: mediaType, data, url }: Json): void {
  if (type === "url") {
    assertRead(textAt(url) !== "", "an image without address");
    return;
  }
  assertRead(
    ["image/jpeg", "image/png", "image/gif", "image/webp"].includes(textAt(mediaType)),
    "an image of another type",
  );
  assertRead(type === "base64" && typeof data === "string", "an image without data");
}

function readMessagesTools({ tools, tool_choice: choice, thinking }: Json): void {
  if (tools === undefined) {
    assertRead(choice === undefined, "a choice of no tools");
    return;
  }
  assertRead(listAt(tools).length > 0, "no tools in a list of them");
  for (const each of listAt(tools)) {
    const { name, input_schema: schema } = objectAt(each, "a tool");
    assertRead(
      isId(name, 128) && isObject(schema) && schema.type === "object",
      "a tool without name or schema",
    );
  }
  if (choice === undefined) return;
  const { type, name } = objectAt(choice, "a choice");
  assertRead(["auto", "any", "none", "tool"].includes(textAt(type)), "an invalid choice");
  if (type === "tool") assertRead(isId(name, 128), "a choice of no name");
  const isForced = type === "any" || type === "tool";
  assertRead(
    !isForced || thinking === undefined || Object(thinking).type === "disabled",
    "thought before a forced call",
  );
}

function readSampling({ thinking, temperature, top_k: topK, max_tokens: most }: Json): void {
  if (temperature !== undefined)
    assertRead(Number(temperature) >= 0 && Number(temperature) <= 1, "a temperature");
  if (thinking === undefined || Object(thinking).type === "disabled") return;
  const { type, budget_tokens: budget } = objectAt(thinking, "thinking");
  assertRead(["enabled", "adaptive"].includes(textAt(type)), "an invalid way of thinking");
  if (type === "enabled")
    assertRead(Number(budget) >= 1024 && Number(budget) < Number(most), "a budget out of bounds");
  assertRead(temperature === undefined && topK === undefined, "a temperature beside thinking");
}

/** What only the client can make right: calls without results, results without calls, and names of tools. */
const OF_THE_CLIENT = /function response|function name|Invalid function/i;

/** Throws for a body that Google would refuse whatever the client had sent. */
export function readTranslatedGemini(text: string): void {
  const problem = findBodyProblem(JSON.parse(text));
  assertRead(problem === undefined || OF_THE_CLIENT.test(problem), `a body with the problem: ${problem}`);
}
