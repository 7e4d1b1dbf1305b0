import { framesOf } from "../../http/faults/frames.ts";
import { insist, type Json, objectAt, textAt } from "../../http/faults/view.ts";

/** What may stand in a block of each type. */
const DELTAS: Readonly<Record<string, readonly string[]>> = {
  text: ["text_delta"],
  thinking: ["thinking_delta", "signature_delta"],
  tool_use: ["input_json_delta"],
  redacted_thinking: [],
};

/** Takes a stream of messages apart as strictly as the format is described. Throws with what is wrong. Gives its events. */
export function readStrictMessages(body: string, model: string): Json[] {
  const events = framesOf(body).map(({ event, json }) => {
    insist(json !== "[DONE]" && json.type === event, "an event under another's name");
    return json;
  });
  const [start, ...rest] = events.filter(({ type }) => type !== "ping");
  checkStart(start, model);
  insist(rest.at(-1)?.type === "message_stop", "no stop last");
  checkEnd(rest.at(-2));
  checkBlocks(rest.slice(0, -2));
  return events;
}

function checkStart(start: Json | undefined, model: string): void {
  insist(start?.type === "message_start", "no start first");
  const { usage, ...message } = objectAt(start.message, "a message");
  insist(/^msg_\w+$/.test(textAt(message.id)), "a name that is none");
  insist(message.type === "message" && message.role === "assistant", "a message of another shape");
  insist(message.model === model, "another model's name");
  insist(JSON.stringify(message.content) === "[]" && message.stop_reason === null, "a start that has begun");
  const { input_tokens: input, output_tokens: output } = objectAt(usage, "a usage");
  // Some clients add what a start reports to what the end does.
  insist(Number.isInteger(input) && output === 0, "a usage to be added to another");
}

function checkEnd(end: Json | undefined): void {
  insist(end?.type === "message_delta", "no delta of the message before the stop");
  const delta = objectAt(end.delta, "a delta");
  insist(textAt(delta.stop_reason) !== "" && "stop_sequence" in delta, "an end without a reason");
  const { input_tokens: input, output_tokens: output } = objectAt(end.usage, "a usage");
  insist(Number.isInteger(input) && Number.isInteger(output), "a usage without counts");
}

/** One block after the other, numbered without gaps, each filled only with what is of its type. */
function checkBlocks(events: readonly Json[]): void {
  let index = -1;
  let open: { readonly type: string; deltas: number } | undefined;
  for (const event of events) {
    if (event.type === "content_block_start") {
      insist(open === undefined && event.index === index + 1, "a block out of order");
      index += 1;
      open = { type: readStart(objectAt(event.content_block, "a block")), deltas: 0 };
      continue;
    }
    insist(open !== undefined && event.index === index, "something of no open block");
    if (event.type === "content_block_delta") {
      const { type } = objectAt(event.delta, "a delta");
      insist(DELTAS[open.type]?.includes(textAt(type)) === true, "a delta of another type");
      open.deltas += 1;
    } else {
      insist(event.type === "content_block_stop", "an event that is unknown");
      insist(open.type !== "text" || open.deltas > 0, "an empty text");
      open = undefined;
    }
  }
  insist(open === undefined, "a block that is never closed");
}

function readStart({ type, ...block }: Json): string {
  if (type === "text") insist(block.text === "", "a text that has begun");
  if (type === "thinking") insist(block.thinking === "", "a thought that has begun");
  if (type === "tool_use") {
    insist(textAt(block.id) !== "" && textAt(block.name) !== "", "a call that is not named");
    insist(JSON.stringify(block.input) === "{}", "an input that has begun");
  }
  insist(textAt(type) in DELTAS, "a block of an unknown type");
  return textAt(type);
}
