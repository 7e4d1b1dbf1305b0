import { assertRead, isObject, type Json, listAt, objectAt, textAt } from "../../support/strict-json.ts";
import { isCount } from "./reading.ts";

/** What a printed body has to say, whatever the client's was. */
export interface Sent {
  readonly model: string;
  readonly stream: boolean;
  /** The ceiling; `undefined` when it is not known here. */
  readonly outputTokensMax: number | undefined;
}

/** Reads a chat body that was printed for an upstream as its strictest host does. Throws, with what that would refuse. */
export function readSentChat(text: string, { model, stream, outputTokensMax }: Sent): void {
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
  readTools(body);
  const { stop, temperature } = body;
  if (stop !== undefined) {
    const words = Array.isArray(stop) ? stop : [stop];
    assertRead(words.length > 0 && words.length <= 4, "no stop sequence, or too many");
    assertRead(
      words.every((word) => typeof word === "string"),
      "a stop sequence that is none",
    );
  }
  // How high it may be is the host's to judge.
  assertRead(temperature === undefined || typeof temperature === "number", "a temperature that is none");
}

/** What each role may say in parts. */
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
    assertRead(isCaller || listAt(content).length > 0, "a content that is none");
  }
  for (const part of listAt(content)) readPart(objectAt(part, "a part"), types);
  if (role === "tool") assertRead(isId(callId, 40), "a result without its call");
  assertRead(calls === undefined || listAt(calls).length > 0, "no calls in a list of them");
  for (const each of listAt(calls)) readCall(objectAt(each, "a call"));
}

function readPart(part: Json, types: readonly string[]): void {
  assertRead(types.includes(textAt(part.type)), "a part that is none");
  if (part.type === "text") assertRead(typeof part.text === "string", "a text that is none");
  if (part.type === "image_url")
    assertRead(textAt(objectAt(part.image_url, "an image").url) !== "", "an image without address");
}

function readCall({ id, type, function: called }: Json): void {
  assertRead(isId(id, 40) && type === "function", "a call without id or type");
  const { name, arguments: input } = objectAt(called, "a function");
  assertRead(isId(name, 64), "a call without name");
  objectAt(JSON.parse(textAt(input)), "arguments");
}

function readTools({ tools, tool_choice: choice, parallel_tool_calls: parallel }: Json): void {
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
    assertRead(
      choice === undefined || ["auto", "none", "required"].includes(choice),
      "a choice that is none",
    );
  } else
    assertRead(
      isId(objectAt(objectAt(choice, "a choice").function, "a function").name, 64),
      "a choice of no name",
    );
}

/** Letters, digits, _ and -. */
export function isId(value: unknown, charsMax: number): boolean {
  return /^[\w-]+$/.test(textAt(value)) && textAt(value).length <= charsMax;
}
