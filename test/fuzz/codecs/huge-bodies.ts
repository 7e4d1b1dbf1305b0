import type { Client } from "../cases/fuzz-case.ts";
import { MODEL } from "../seeds/tools.ts";

/** A body that is huge in one respect. */
export interface HugeBody {
  readonly name: string;
  readonly client: Client;
  readonly body: string;
}

export interface HugeBodySize {
  readonly levels: number;
  readonly elements: number;
}

/** Bodies nested this many levels, and bodies with this many elements. */
export function hugeBodiesOf({ levels, elements }: HugeBodySize): readonly HugeBody[] {
  return [...deepBodies(levels), ...wideBodies(elements)];
}

const OBJECTS = ['{"a":', "}"] as const;

function deepBodies(levels: number): readonly HugeBody[] {
  const nested = ([open, close]: readonly [string, string]) =>
    `${open.repeat(levels)}1${close.repeat(levels)}`;
  const schema = nested(OBJECTS);
  const properties = nested(['{"type":"object","properties":{"a":', "}}"]);
  const results = nested(['{"type":"tool_result","tool_use_id":"a","content":[', "]}"]);
  const documents = nested(['{"type":"document","source":{"type":"content","content":[', "]}}"]);
  const namespaces = nested(['{"type":"namespace","name":"n","tools":[', "]}"]);
  return [
    chat("a schema", TEXT, `"tools":[{"type":"function","function":{"name":"f","parameters":${schema}}}]`),
    chat(
      "a format",
      TEXT,
      `"response_format":{"type":"json_schema","json_schema":{"name":"f","schema":${properties}}}`,
    ),
    chat("arguments", `${TEXT},{"role":"assistant","tool_calls":[${chatCall(JSON.stringify(schema))}]}`),
    chat("a content", `{"role":"user","content":${nested(["[", "]"])}}`),
    messages("a schema", TEXT, `"tools":[{"name":"f","input_schema":${schema}}]`),
    messages("a format", TEXT, `"output_config":{"format":{"type":"json_schema","schema":${properties}}}`),
    messages("an input", `${TEXT},{"role":"assistant","content":[${toolUse(schema)}]}`),
    messages("results", `{"role":"user","content":[${results}]}`),
    messages("documents", `{"role":"user","content":[${documents}]}`),
    responses("a schema", TEXT, `"tools":[{"type":"function","name":"f","parameters":${schema}}]`),
    responses("namespaces", TEXT, `"tools":[${namespaces}]`),
    responses("metadata", TEXT, `"metadata":{"a":${schema}}`),
  ].map((hugeBody) => ({ ...hugeBody, name: `${hugeBody.name}, ${levels} levels deep` }));
}

function wideBodies(count: number): readonly HugeBody[] {
  const many = (item: string) => Array<string>(count).fill(item).join(",");
  const longNames = Array.from({ length: count }, (_, index) => `"name":"${"n".repeat(70)}${index}"`);
  const properties = Array.from(
    { length: count },
    (_, index) => `"p${index}":{"type":"string","minLength":1}`,
  );
  const result = '{"type":"tool_result","tool_use_id":"a","content":"x"}';
  const item = '{"type":"function_call_output","call_id":"a","output":"x"}';
  return [
    chat("messages", many('{"role":"user","content":"a"},{"role":"assistant","content":"b"}')),
    chat("calls", `${TEXT},{"role":"assistant","tool_calls":[${many(chatCall('"{}"'))}]}`),
    chat("results", many('{"role":"tool","tool_call_id":"a","content":"b"}')),
    chat("parts", `{"role":"user","content":[${many('{"type":"text","text":"a"}')}]}`),
    chat("stops", TEXT, `"stop":[${many('"a"')}]`),
    chat(
      "tools",
      TEXT,
      `"tools":[${longNames.map((name) => `{"type":"function","function":{${name}}}`).join(",")}]`,
    ),
    chat(
      "properties",
      TEXT,
      `"response_format":${formatOf(`{"type":"object","properties":{${properties.join(",")}}}`)}`,
    ),
    messages("calls", `${TEXT},{"role":"assistant","content":[${many(toolUse("{}"))}]}`),
    messages("results", `{"role":"user","content":[${many(result)}]}`),
    messages("system turns", many('{"role":"system","content":"a"}')),
    messages("tools", TEXT, `"tools":[${longNames.map((name) => `{${name},"input_schema":{}}`).join(",")}]`),
    responses("items", many('{"role":"user","content":"a"}')),
    responses("calls", many(`{"type":"function_call","call_id":"a","name":"f","arguments":"{}"},${item}`)),
  ].map((hugeBody) => ({ ...hugeBody, name: `${hugeBody.name}, ${count} of them` }));
}

const TEXT = '{"role":"user","content":"x"}';

function chatCall(input: string): string {
  return `{"id":"a","type":"function","function":{"name":"f","arguments":${input}}}`;
}

function toolUse(input: string): string {
  return `{"type":"tool_use","id":"a","name":"f","input":${input}}`;
}

function formatOf(schema: string): string {
  return `{"type":"json_schema","json_schema":{"name":"f","schema":${schema}}}`;
}

function chat(name: string, turns: string, more = '"stream":true'): HugeBody {
  return {
    name: `chat: ${name}`,
    client: "chat",
    body: `{"model":"${MODEL}","messages":[${turns}],${more}}`,
  };
}

function messages(name: string, turns: string, more = '"stream":true'): HugeBody {
  const body = `{"model":"${MODEL}","max_tokens":9,"messages":[${turns}],${more}}`;
  return { name: `messages: ${name}`, client: "messages", body };
}

function responses(name: string, items: string, more = '"stream":true'): HugeBody {
  return {
    name: `responses: ${name}`,
    client: "responses",
    body: `{"model":"${MODEL}","input":[${items}],${more}}`,
  };
}
