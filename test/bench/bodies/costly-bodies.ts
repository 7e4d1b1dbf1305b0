import type { ClientSurface } from "../../../src/domain/model.ts";

/** A body that is costly to parse for its size. */
export interface CostlyBody {
  readonly name: string;
  readonly surface: ClientSurface;
  readonly model: string;
  /** Number of concurrent requests. */
  readonly together: number;
  text(): string;
}

/** The models of the gateway, named by the protocol of their upstream. */
export const MODELS = { openai: "by-openai", anthropic: "by-anthropic", responses: "by-responses" } as const;

const KB = 1024;
const MB = 1024 * KB;
const MANY = 50;

interface Structure {
  readonly name: string;
  readonly bytes: number;
  readonly together?: number;
  /** The members of the body beside model and output limit. */
  members(bytes: number): string;
}

const MESSAGE = '"messages":[{"role":"user","content":"x"}]';

/**
 * In a typical size, in the largest size that is parsed in the main thread, and often in the largest size.
 */
const STRUCTURES: readonly Structure[] = [
  { name: "distinct keys, one object", bytes: 3.5 * MB, members: distinctKeys },
  { name: "distinct keys, one object", bytes: 1.9 * MB, members: distinctKeys },
  { name: "distinct keys, one object", bytes: 127 * KB, members: distinctKeys },
  { name: "distinct keys, one object", bytes: 12 * MB, together: 17, members: distinctKeys },
  { name: "an object for each key", bytes: 2 * MB, members: objectsOfOneKey },
  { name: "an object for each key", bytes: 127 * KB, members: objectsOfOneKey },
  { name: "240,000 messages", bytes: 7.4 * MB, members: messages },
  { name: "30,000 messages", bytes: 0.93 * MB, members: messages },
  { name: "messages", bytes: 127 * KB, members: messages },
  { name: "parts of one message", bytes: 2.5 * MB, members: parts },
  { name: "parts of one message", bytes: 127 * KB, members: parts },
  { name: "calls and results", bytes: 3 * MB, members: calls },
  { name: "calls and results", bytes: 127 * KB, members: calls },
  {
    name: "plain text",
    bytes: 28 * MB,
    together: 17,
    members: (bytes) => textMessage("hello world ", bytes),
  },
  {
    name: "text that is not Latin",
    bytes: 28 * MB,
    together: 17,
    members: (bytes) => textMessage("žluť 你 ", bytes),
  },
  {
    name: "an escaped string",
    bytes: 28 * MB,
    together: 17,
    members: (bytes) => textMessage("\\u0161", bytes),
  },
  { name: "escaped quotes", bytes: 28 * MB, together: 17, members: (bytes) => textMessage('\\"', bytes) },
  { name: "escaped quotes", bytes: 127 * KB, members: (bytes) => textMessage('\\"', bytes) },
  { name: "escaped quotes", bytes: 1_020 * KB, members: (bytes) => textMessage('\\"', bytes) },
  { name: "text that is not Latin", bytes: 1_020 * KB, members: (bytes) => textMessage("žluť 你 ", bytes) },
  { name: "lines of text", bytes: 1_020 * KB, members: (bytes) => textMessage("return 1;\\n", bytes) },
  { name: "arguments full of values", bytes: 1_020 * KB, members: fullArguments },
  { name: "one number", bytes: 29 * MB, together: 17, members: (bytes) => extra("1".repeat(bytes)) },
  { name: "one key", bytes: 28 * MB, together: 17, members: (bytes) => extra(`{"${"k".repeat(bytes)}":1}`) },
  { name: "a schema of 240,000 properties", bytes: 3.6 * MB, members: schema },
  { name: "a schema of properties", bytes: 127 * KB, members: schema },
  { name: "tools with names too long", bytes: 127 * KB, members: tools },
  { name: "tools with names too long", bytes: 3 * MB, members: tools },
  { name: "brackets", bytes: 28 * MB, together: 17, members: brackets },
  { name: "brackets", bytes: 1 * MB, members: brackets },
  { name: "brackets", bytes: 127 * KB, members: brackets },
  {
    name: "numbers",
    bytes: 28 * MB,
    together: 17,
    members: (bytes) => extra(`[${"1,".repeat(bytes / 2)}1]`),
  },
  { name: "arguments full of values", bytes: 1 * MB, members: fullArguments },
  { name: "no JSON", bytes: 28 * MB, together: 17, members: (bytes) => extra("x".repeat(bytes)) },
];

/**
 * Returns chat and messages bodies for upstreams of both formats, and responses bodies for chat and
 * responses.
 */
export function costlyBodies(): readonly CostlyBody[] {
  const ways = [
    ["chat", MODELS.openai],
    ["chat", MODELS.anthropic],
    ["messages", MODELS.anthropic],
    ["messages", MODELS.openai],
  ] as const;
  const structured = STRUCTURES.flatMap(({ name, bytes, together = MANY, members }) =>
    ways.map(([surface, model]): CostlyBody => {
      const text = () => `{"model":"${model}","max_tokens":16,${members(bytes)}}`;
      return { name: `${sizeOf(bytes)} ${name}`, surface, model, together, text };
    }),
  );
  return [...structured, ...responsesBodies()];
}

function responsesBodies(): readonly CostlyBody[] {
  const sizes = [127 * KB, 1 * MB, 7 * MB];
  const made = [
    { name: "messages", text: (bytes: number) => repeatTo('{"role":"user","content":"a"}', bytes) },
    {
      name: "calls",
      text: (bytes: number) =>
        repeatTo('{"type":"function_call","call_id":"c","name":"f","arguments":"{}"}', bytes),
    },
    {
      name: "sealed reasoning",
      text: (bytes: number) => repeatTo('{"type":"reasoning","summary":[],"encrypted_content":"x"}', bytes),
    },
  ];
  return [MODELS.openai, MODELS.responses].flatMap((model) =>
    made.flatMap(({ name, text }) =>
      sizes.map((bytes): CostlyBody => {
        const whole = () => `{"model":"${model}","max_output_tokens":16,"input":[${text(bytes)}]}`;
        return { name: `${sizeOf(bytes)} ${name}`, surface: "responses", model, together: MANY, text: whole };
      }),
    ),
  );
}

function extra(json: string): string {
  return `${MESSAGE},"metadata":${json}`;
}

function textMessage(text: string, bytes: number): string {
  return `"messages":[{"role":"user","content":"${text.repeat(bytes / Buffer.byteLength(text))}"}]`;
}

function distinctKeys(bytes: number): string {
  return extra(`{${numbered((count) => `"${count.toString(36)}k":1`, bytes)}}`);
}

function objectsOfOneKey(bytes: number): string {
  return extra(`[${numbered((count) => `{"${count.toString(36)}k":1}`, bytes)}]`);
}

function messages(bytes: number): string {
  return `"messages":[${repeatTo('{"role":"user","content":"a"},{"role":"assistant","content":"b"}', bytes)}]`;
}

function parts(bytes: number): string {
  return `"messages":[{"role":"user","content":[${repeatTo('{"type":"text","text":"a"}', bytes)}]}]`;
}

/** In the format of chat. For messages, a message with an unknown member. */
function calls(bytes: number): string {
  const call = (count: number) =>
    `{"type":"function","id":"c${count}","function":{"name":"f","arguments":"{}"}}`;
  const list = numbered(call, bytes / 2);
  const results = numbered((count) => `{"role":"tool","tool_call_id":"c${count}","content":"a"}`, bytes / 2);
  return `"messages":[{"role":"user","content":"x"},{"role":"assistant","tool_calls":[${list}]},${results}]`;
}

function fullArguments(bytes: number): string {
  const json = JSON.stringify(`{"a":[${"1,".repeat(bytes / 2)}1]}`);
  const call = `{"type":"function","id":"c","function":{"name":"f","arguments":${json}}}`;
  return `"messages":[{"role":"user","content":"x"},{"role":"assistant","tool_calls":[${call}]}]`;
}

function schema(bytes: number): string {
  const properties = numbered((count) => `"${count.toString(36)}k":{}`, bytes);
  const parameters = `{"type":"object","properties":{${properties}}}`;
  return `${MESSAGE},"tools":[{"type":"function","function":{"name":"f","strict":true,"parameters":${parameters}}}]`;
}

function tools(bytes: number): string {
  const tool = (count: number) => `{"type":"function","function":{"name":"${"n".repeat(150)}${count}"}}`;
  return `${MESSAGE},"tools":[${numbered(tool, bytes)}]`;
}

function brackets(bytes: number): string {
  return extra("[".repeat(bytes / 2) + "]".repeat(bytes / 2));
}

function repeatTo(element: string, bytes: number): string {
  return Array(Math.ceil(bytes / (element.length + 1)))
    .fill(element)
    .join(",");
}

function numbered(print: (count: number) => string, bytes: number): string {
  const pieces: string[] = [];
  for (let length = 0, count = 0; length < bytes; count += 1) {
    const piece = print(count);
    pieces.push(piece);
    length += piece.length + 1;
  }
  return pieces.join(",");
}

function sizeOf(bytes: number): string {
  return bytes < MB ? `${Math.round(bytes / KB)} KB` : `${(bytes / MB).toFixed(1)} MB`;
}
