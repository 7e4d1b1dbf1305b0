import { type ModelOutput, type OutputCall, wordsOf } from "./model-output.ts";

const RESPONSE = { id: "resp_scripted", object: "response", created_at: 1_790_000_000 };

type Item = Readonly<Record<string, unknown>> & { readonly id: string };
type Event = Readonly<Record<string, unknown>> & { readonly type: string };

/**
 * A whole answer of the responses API.
 * @see https://platform.openai.com/docs/api-reference/responses
 */
export function responsesWhole(modelOutput: ModelOutput) {
  const { finish = "completed", usage } = modelOutput;
  const isCut = finish !== "completed";
  return {
    ...RESPONSE,
    status: isCut ? "incomplete" : "completed",
    error: null,
    incomplete_details: isCut ? { reason: finish } : null,
    model: modelOutput.model ?? "upstream-secret-name",
    output: itemsOf(modelOutput).map(({ item }) => item),
    parallel_tool_calls: true,
    store: false,
    tool_choice: "auto",
    tools: [],
    ...(modelOutput.tier && { service_tier: modelOutput.tier }),
    ...(usage && { usage: usageOf(usage) }),
  };
}

/** The numbered events of a streamed response. The last event reports usage. */
export function responsesLines(modelOutput: ModelOutput): string[] {
  const whole = responsesWhole(modelOutput);
  const begun = { ...whole, status: "in_progress", incomplete_details: null, output: [], usage: null };
  const events: Event[] = [
    { type: "response.created", response: begun },
    { type: "response.in_progress", response: begun },
    ...itemsOf(modelOutput).flatMap(({ item, empty, pieces }, output_index) => [
      { type: "response.output_item.added", output_index, item: { ...empty, status: "in_progress" } },
      ...pieces.map((piece) => ({ ...piece, item_id: item.id, output_index })),
      { type: "response.output_item.done", output_index, item },
    ]),
    { type: `response.${whole.status}`, response: whole },
  ];
  return events.map((event, sequence_number) => JSON.stringify({ ...event, sequence_number }));
}

interface ItemEvents {
  readonly item: Item;
  /** The item at its start. */
  readonly empty: object;
  /** The events between the start and the end of the item. */
  readonly pieces: readonly Event[];
}

function itemsOf({ reasoning, text, tool, compaction }: ModelOutput): ItemEvents[] {
  const items: ItemEvents[] = [];
  if (reasoning) items.push(reasoningItem(reasoning));
  if (text !== undefined) items.push(messageItem(text));
  if (tool) items.push(callItem(tool));
  if (compaction !== undefined) items.push(compactionItem(compaction));
  return items;
}

function reasoningItem(text: string): ItemEvents {
  const empty = { type: "reasoning", id: "rs_1", summary: [] };
  const part = { type: "summary_text", text };
  return {
    item: { ...empty, summary: [part] },
    empty,
    pieces: [
      { type: "response.reasoning_summary_part.added", summary_index: 0, part: { ...part, text: "" } },
      { type: "response.reasoning_summary_text.delta", summary_index: 0, delta: text },
      { type: "response.reasoning_summary_text.done", summary_index: 0, text },
      { type: "response.reasoning_summary_part.done", summary_index: 0, part },
    ],
  };
}

function messageItem(text: string): ItemEvents {
  const empty = { type: "message", id: "msg_1", role: "assistant", content: [] };
  const part = { type: "output_text", text, annotations: [], logprobs: [] };
  return {
    item: { ...empty, status: "completed", content: [part] },
    empty,
    pieces: [
      { type: "response.content_part.added", content_index: 0, part: { ...part, text: "" } },
      ...wordsOf(text).map((delta) => ({ type: "response.output_text.delta", content_index: 0, delta })),
      { type: "response.output_text.done", content_index: 0, text },
      { type: "response.content_part.done", content_index: 0, part },
    ],
  };
}

function compactionItem(content: string): ItemEvents {
  const item = { type: "compaction", id: "cmp_1", encrypted_content: content };
  return { item, empty: item, pieces: [] };
}

function callItem({ id = "call_1", name, arguments: text, namespace, takesText }: OutputCall): ItemEvents {
  const [type, kind, member] = takesText
    ? ["custom_tool_call", "custom_tool_call_input", "input"]
    : ["function_call", "function_call_arguments", "arguments"];
  const empty = { type, id: "fc_1", call_id: id, name, ...(namespace && { namespace }), [member]: "" };
  const half = Math.ceil(text.length / 2);
  const deltas = [text.slice(0, half), text.slice(half)];
  return {
    item: { ...empty, status: "completed", [member]: text },
    empty,
    pieces: [
      ...deltas.map((delta) => ({ type: `response.${kind}.delta`, delta })),
      { type: `response.${kind}.done`, ...(takesText ? {} : { name }), [member]: text },
    ],
  };
}

function usageOf({ input, output }: NonNullable<ModelOutput["usage"]>) {
  return {
    input_tokens: input,
    input_tokens_details: { cached_tokens: 0, cache_write_tokens: 0 },
    output_tokens: output,
    output_tokens_details: { reasoning_tokens: 0 },
    total_tokens: input + output,
  };
}
