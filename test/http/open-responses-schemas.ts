import { type TSchema, Type } from "@sinclair/typebox";

// The public schema of Open Responses, as far as answers of the gateway use it. Required members are
// required, and null is allowed only where the schema allows it. Other members are free.

const nullable = (schema: TSchema) => Type.Union([schema, Type.Null()]);
const oneOf = (...values: string[]) => Type.Union(values.map((value) => Type.Literal(value)));
const STATUS = oneOf("in_progress", "completed", "incomplete");
const CHOICE = oneOf("auto", "none", "required");

const LOG_PROBABILITY = Type.Object({
  token: Type.String(),
  logprob: Type.Number(),
  bytes: Type.Array(Type.Integer()),
  top_logprobs: Type.Array(Type.Object({ token: Type.String(), logprob: Type.Number() })),
});

const CONTENT_PART = Type.Union([
  Type.Object({
    type: Type.Literal("output_text"),
    text: Type.String(),
    annotations: Type.Array(Type.Object({ type: Type.Literal("url_citation") })),
    logprobs: Type.Optional(Type.Array(LOG_PROBABILITY)),
  }),
  Type.Object({ type: Type.Literal("refusal"), refusal: Type.String() }),
  Type.Object({ type: Type.Literal("summary_text"), text: Type.String() }),
  Type.Object({ type: Type.Literal("reasoning_text"), text: Type.String() }),
]);

const ITEM = Type.Union([
  Type.Object({
    type: Type.Literal("message"),
    id: Type.String(),
    status: STATUS,
    role: Type.Literal("assistant"),
    content: Type.Array(CONTENT_PART),
  }),
  Type.Object({
    type: Type.Literal("function_call"),
    id: Type.String(),
    call_id: Type.String(),
    name: Type.String(),
    arguments: Type.String(),
    status: STATUS,
  }),
  Type.Object({
    type: Type.Literal("reasoning"),
    id: Type.String(),
    summary: Type.Array(CONTENT_PART),
    content: Type.Optional(Type.Array(CONTENT_PART)),
    encrypted_content: Type.Optional(Type.String()),
  }),
]);

const FUNCTION_TOOL = Type.Object({
  type: Type.Literal("function"),
  name: Type.String(),
  description: nullable(Type.String()),
  parameters: nullable(Type.Record(Type.String(), Type.Unknown())),
  strict: nullable(Type.Boolean()),
});

const TOOL_CHOICE = Type.Union([
  CHOICE,
  Type.Object({ type: Type.Literal("function"), name: Type.Optional(Type.String()) }),
  Type.Object({ type: Type.Literal("allowed_tools"), tools: Type.Array(Type.Unknown()), mode: CHOICE }),
]);

const FORMAT = Type.Union([
  Type.Object({ type: oneOf("text", "json_object") }),
  Type.Object({
    type: Type.Literal("json_schema"),
    name: Type.String(),
    description: nullable(Type.String()),
    schema: Type.Unknown(),
    strict: Type.Boolean(),
  }),
]);

const USAGE = Type.Object({
  input_tokens: Type.Integer(),
  output_tokens: Type.Integer(),
  total_tokens: Type.Integer(),
  input_tokens_details: Type.Object({ cached_tokens: Type.Integer() }),
  output_tokens_details: Type.Object({ reasoning_tokens: Type.Integer() }),
});

/** A response resource, finished or in progress. */
export const RESPONSE_RESOURCE = Type.Object({
  id: Type.String(),
  object: Type.Literal("response"),
  created_at: Type.Integer(),
  completed_at: nullable(Type.Integer()),
  status: Type.String(),
  incomplete_details: nullable(Type.Object({ reason: Type.String() })),
  model: Type.String(),
  previous_response_id: nullable(Type.String()),
  instructions: nullable(Type.String()),
  output: Type.Array(ITEM),
  error: nullable(Type.Object({ code: Type.String(), message: Type.String() })),
  tools: Type.Array(FUNCTION_TOOL),
  tool_choice: TOOL_CHOICE,
  truncation: oneOf("auto", "disabled"),
  parallel_tool_calls: Type.Boolean(),
  text: Type.Object({ format: FORMAT, verbosity: Type.Optional(oneOf("low", "medium", "high")) }),
  top_p: Type.Number(),
  presence_penalty: Type.Number(),
  frequency_penalty: Type.Number(),
  top_logprobs: Type.Integer(),
  temperature: Type.Number(),
  reasoning: nullable(
    Type.Object({
      effort: nullable(oneOf("none", "minimal", "low", "medium", "high", "xhigh")),
      summary: nullable(oneOf("concise", "detailed", "auto")),
    }),
  ),
  user: nullable(Type.String()),
  usage: nullable(USAGE),
  max_output_tokens: nullable(Type.Integer()),
  max_tool_calls: nullable(Type.Integer()),
  store: Type.Boolean(),
  background: Type.Boolean(),
  service_tier: Type.String(),
  metadata: Type.Record(Type.String(), Type.String()),
  safety_identifier: nullable(Type.String()),
  prompt_cache_key: nullable(Type.String()),
});

const OF_RESPONSE = { response: RESPONSE_RESOURCE };
const OF_ITEM = { output_index: Type.Integer(), item: nullable(ITEM) };
const IN_ITEM = { output_index: Type.Integer(), item_id: Type.String() };
const IN_CONTENT = { ...IN_ITEM, content_index: Type.Integer() };
const IN_SUMMARY = { ...IN_ITEM, summary_index: Type.Integer() };
const DELTA = { delta: Type.String() };
const TEXT = { text: Type.String() };
const PART = { part: CONTENT_PART };
const LOG_PROBABILITIES = { logprobs: Type.Optional(Type.Array(LOG_PROBABILITY)) };

/** The members of each event, apart from its type and sequence number. */
const EVENTS: Readonly<Record<string, Record<string, TSchema>>> = {
  created: OF_RESPONSE,
  in_progress: OF_RESPONSE,
  completed: OF_RESPONSE,
  incomplete: OF_RESPONSE,
  failed: OF_RESPONSE,
  "output_item.added": OF_ITEM,
  "output_item.done": OF_ITEM,
  "content_part.added": { ...IN_CONTENT, ...PART },
  "content_part.done": { ...IN_CONTENT, ...PART },
  "output_text.delta": { ...IN_CONTENT, ...DELTA, ...LOG_PROBABILITIES },
  "output_text.done": { ...IN_CONTENT, ...TEXT, ...LOG_PROBABILITIES },
  "refusal.delta": { ...IN_CONTENT, ...DELTA },
  "refusal.done": { ...IN_CONTENT, refusal: Type.String() },
  "reasoning_summary_part.added": { ...IN_SUMMARY, ...PART },
  "reasoning_summary_part.done": { ...IN_SUMMARY, ...PART },
  "reasoning_summary_text.delta": { ...IN_SUMMARY, ...DELTA },
  "reasoning_summary_text.done": { ...IN_SUMMARY, ...TEXT },
  "function_call_arguments.delta": { ...IN_ITEM, ...DELTA },
  "function_call_arguments.done": { ...IN_ITEM, arguments: Type.String() },
};

/** Returns the schema of an event, or `undefined` for an unknown event. */
export function schemaOfEvent(type: unknown): TSchema | undefined {
  const name = String(type).replace(/^response\./, "");
  const members = Object.hasOwn(EVENTS, name) ? EVENTS[name] : undefined;
  return (
    members && Type.Object({ type: Type.Literal(String(type)), sequence_number: Type.Integer(), ...members })
  );
}
