import { assertRead, framesOf, type Json, listAt, objectAt, textAt } from "../strict-json.ts";
import { type Finish, type NeutralAnswer, type NeutralUsage, piecesOf } from "./neutral-answer.ts";

const HEAD = { id: "msg_scripted", type: "message", role: "assistant", model: "upstream-secret-name" };
const SIGNATURE = "c2lnbmF0dXJl";

/** Stop reasons and their neutral finish. The first of each finish is the one to encode. */
const FINISHES: readonly (readonly [word: string, finish: Finish])[] = [
  ["end_turn", "stop"],
  ["max_tokens", "length"],
  ["tool_use", "tool_calls"],
  ["refusal", "content_filter"],
  ["stop_sequence", "stop"],
];

/**
 * Encodes an answer as a whole message.
 * @see https://docs.anthropic.com/en/api/messages
 */
export function printMessage(answer: NeutralAnswer): Json {
  const { finish, refusal, usage } = answer;
  const explained = refusal && { stop_details: { type: "refusal", category: null, explanation: refusal } };
  return {
    ...HEAD,
    content: blocksOf(answer),
    stop_reason: FINISHES.find(([, each]) => each === finish)?.[0],
    stop_sequence: null,
    ...explained,
    ...(usage && { usage: printUsage(usage) }),
  };
}

/** Encodes an answer as stream events, each block in pieces. The first and the last event report usage. */
export function printMessageLines(answer: NeutralAnswer): string[] {
  const { content: _, stop_reason, stop_sequence, stop_details, ...head } = printMessage(answer);
  const { usage } = answer;
  const started = { ...head, content: [], stop_reason: null, stop_sequence: null };
  const message = { ...started, ...(usage && { usage: { ...printUsage(usage), output_tokens: 1 } }) };
  const delta = { stop_reason, stop_sequence, ...(stop_details !== undefined && { stop_details }) };
  const events: Json[] = [
    { type: "message_start", message },
    { type: "ping" },
    ...blocksOf(answer).flatMap(printBlock),
    { type: "message_delta", delta, ...(usage && { usage: printUsage(usage) }) },
    { type: "message_stop" },
  ];
  return events.map((event) => JSON.stringify(event));
}

/** Merges stream events into a whole message. */
export function collectMessage(events: readonly Json[]): Json {
  let message: Record<string, unknown> = {};
  const blocks: Record<string, unknown>[] = [];
  for (const event of events) {
    const block = blocks[Number(event.index)] ?? {};
    if (event.type === "message_start") message = { ...objectAt(event.message, "a message") };
    if (event.type === "content_block_start")
      blocks[Number(event.index)] = { ...objectAt(event.content_block, "a block"), json: "" };
    if (event.type === "content_block_delta") addDelta(block, objectAt(event.delta, "a delta"));
    if (event.type !== "message_delta") continue;
    const usage = { ...objectAt(message.usage ?? {}, "a usage"), ...objectAt(event.usage ?? {}, "a usage") };
    message = { ...message, ...objectAt(event.delta, "a delta"), usage };
  }
  const content = blocks.map(({ json, ...block }) =>
    textAt(json) === "" ? block : { ...block, input: JSON.parse(textAt(json)) },
  );
  return { ...message, content };
}

/** Decodes a whole message. Ignores blocks of server tools. */
export function readMessage(message: Json): NeutralAnswer {
  const blocks = listAt(message.content).map((each) => objectAt(each, "a block"));
  const textsOf = (type: string, field: string) =>
    blocks.map((block) => (block.type === type ? textAt(block[field]) : "")).join("");
  return {
    reasoning: textsOf("thinking", "thinking"),
    text: textsOf("text", "text"),
    refusal: textAt(objectAt(message.stop_details ?? {}, "details").explanation),
    calls: blocks
      .filter(({ type }) => type === "tool_use")
      .map(({ id, name, input }) => ({ id: textAt(id), name: textAt(name), input })),
    finish: readFinish(message.stop_reason),
    usage: message.usage === undefined ? undefined : readUsage(objectAt(message.usage, "a usage")),
  };
}

function readFinish(word: unknown): Finish {
  const finish = FINISHES.find(([each]) => each === word)?.[1];
  if (!finish) throw new Error(`The client read a stop of ${word}`);
  return finish;
}

function readUsage(usage: Json): NeutralUsage {
  const countOf = (field: string) => Number(usage[field] ?? 0);
  return {
    input: countOf("input_tokens"),
    cached: countOf("cache_read_input_tokens"),
    written: countOf("cache_creation_input_tokens"),
    output: countOf("output_tokens"),
  };
}

function printUsage({ input, cached, written, output }: NeutralUsage): Json {
  return {
    input_tokens: input,
    cache_read_input_tokens: cached,
    cache_creation_input_tokens: written,
    output_tokens: output,
  };
}

function blocksOf({ reasoning, text, calls }: NeutralAnswer): Json[] {
  return [
    ...(reasoning ? [{ type: "thinking", thinking: reasoning, signature: SIGNATURE }] : []),
    ...(text ? [{ type: "text", text }] : []),
    ...calls.map((call) => ({ type: "tool_use", ...call })),
  ];
}

/** Encodes a block as a start without content, deltas, and a stop. */
function printBlock(block: Json, index: number): Json[] {
  const [start, deltas] = unfold(block);
  return [
    { type: "content_block_start", index, content_block: start },
    ...deltas.map((delta) => ({ type: "content_block_delta", index, delta })),
    { type: "content_block_stop", index },
  ];
}

function unfold(block: Json): readonly [start: Json, deltas: readonly Json[]] {
  if (block.type === "tool_use") {
    const json = JSON.stringify(block.input);
    const pieces = json === "{}" ? [""] : piecesOf(json);
    return [
      { ...block, input: {} },
      pieces.map((piece) => ({ type: "input_json_delta", partial_json: piece })),
    ];
  }
  if (block.type === "text") {
    const pieces = piecesOf(textAt(block.text));
    return [{ ...block, text: "" }, pieces.map((text) => ({ type: "text_delta", text }))];
  }
  const pieces = piecesOf(textAt(block.thinking));
  return [
    { ...block, thinking: "", signature: "" },
    [
      ...pieces.map((thinking) => ({ type: "thinking_delta", thinking })),
      { type: "signature_delta", signature: block.signature },
    ],
  ];
}

function addDelta(block: Record<string, unknown>, delta: Json): void {
  const add = (field: string, piece: unknown) => {
    block[field] = textAt(block[field]) + textAt(piece);
  };
  if (delta.type === "text_delta") add("text", delta.text);
  if (delta.type === "thinking_delta") add("thinking", delta.thinking);
  if (delta.type === "signature_delta") block.signature = delta.signature;
  if (delta.type === "input_json_delta") add("json", delta.partial_json);
}

/** The delta types that each block type allows. */
const DELTAS: Readonly<Record<string, readonly string[]>> = {
  text: ["text_delta"],
  thinking: ["thinking_delta", "signature_delta"],
  tool_use: ["input_json_delta"],
  redacted_thinking: [],
};

/** Parses a messages stream strictly and returns its events. Throws at the first violation of the format. */
export function readStrictMessages(body: string, model: string): Json[] {
  const events = framesOf(body).map(({ event, json }) => {
    assertRead(json !== "[DONE]" && json.type === event, "an event under another's name");
    return json;
  });
  const [start, ...rest] = events.filter(({ type }) => type !== "ping");
  checkStart(start, model);
  assertRead(rest.at(-1)?.type === "message_stop", "no stop last");
  checkEnd(rest.at(-2));
  checkBlocks(rest.slice(0, -2));
  return events;
}

function checkStart(start: Json | undefined, model: string): void {
  assertRead(start?.type === "message_start", "no start first");
  const { usage, ...message } = objectAt(start.message, "a message");
  assertRead(/^msg_\w+$/.test(textAt(message.id)), "an invalid name");
  assertRead(message.type === "message" && message.role === "assistant", "a message of another shape");
  assertRead(message.model === model, "another model's name");
  assertRead(
    JSON.stringify(message.content) === "[]" && message.stop_reason === null,
    "a start that has begun",
  );
  const { input_tokens: input, output_tokens: output } = objectAt(usage, "a usage");
  // Some clients add the usage of the start to the usage of the end.
  assertRead(Number.isInteger(input) && output === 0, "a usage to be added to another");
}

function checkEnd(end: Json | undefined): void {
  assertRead(end?.type === "message_delta", "no delta of the message before the stop");
  const delta = objectAt(end.delta, "a delta");
  assertRead(textAt(delta.stop_reason) !== "" && "stop_sequence" in delta, "an end without a reason");
  const { input_tokens: input, output_tokens: output } = objectAt(end.usage, "a usage");
  assertRead(Number.isInteger(input) && Number.isInteger(output), "a usage without counts");
}

/** Blocks must follow each other, be numbered without gaps, and hold only deltas of their type. */
function checkBlocks(events: readonly Json[]): void {
  let index = -1;
  let open: { readonly type: string; deltas: number } | undefined;
  for (const event of events) {
    if (event.type === "content_block_start") {
      assertRead(open === undefined && event.index === index + 1, "a block out of order");
      index += 1;
      open = { type: readStart(objectAt(event.content_block, "a block")), deltas: 0 };
      continue;
    }
    assertRead(open !== undefined && event.index === index, "something of no open block");
    if (event.type === "content_block_delta") {
      const { type } = objectAt(event.delta, "a delta");
      assertRead(DELTAS[open.type]?.includes(textAt(type)) === true, "a delta of another type");
      open.deltas += 1;
    } else {
      assertRead(event.type === "content_block_stop", "an event that is unknown");
      assertRead(open.type !== "text" || open.deltas > 0, "an empty text");
      open = undefined;
    }
  }
  assertRead(open === undefined, "a block that is never closed");
}

function readStart({ type, ...block }: Json): string {
  if (type === "text") assertRead(block.text === "", "a text that has begun");
  if (type === "thinking") assertRead(block.thinking === "", "a thought that has begun");
  if (type === "tool_use") {
    assertRead(textAt(block.id) !== "" && textAt(block.name) !== "", "a call that is not named");
    assertRead(JSON.stringify(block.input) === "{}", "an input that has begun");
  }
  assertRead(textAt(type) in DELTAS, "a block of an unknown type");
  return textAt(type);
}
