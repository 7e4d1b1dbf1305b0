import { type Speech, wordsOf } from "./speech.ts";

function messagesUsage({ usage }: Speech) {
  return usage && { input_tokens: usage.input, output_tokens: usage.output };
}

function messagesFinish({ finish, tool }: Speech): string {
  return finish ?? (tool ? "tool_use" : "end_turn");
}

/** A whole answer in the shape of the messages API. */
export function messagesWhole(speech: Speech) {
  const content: object[] = [];
  if (speech.reasoning)
    content.push({ type: "thinking", thinking: speech.reasoning, signature: "c2lnbmF0dXJl" });
  if (speech.text !== undefined) content.push({ type: "text", text: speech.text });
  if (speech.tool) {
    const input: unknown = JSON.parse(speech.tool.arguments);
    content.push({ type: "tool_use", id: "toolu_1", name: speech.tool.name, input });
  }
  return {
    id: "msg_scripted",
    type: "message",
    role: "assistant",
    model: speech.model ?? "upstream-secret-name",
    content,
    stop_reason: messagesFinish(speech),
    stop_sequence: null,
    ...(speech.usage && { usage: messagesUsage(speech) }),
  };
}

/** The events of a streamed message, with usage at both ends as the provider reports it. */
export function messagesLines(speech: Speech): string[] {
  const { usage } = speech;
  const start = { ...messagesWhole({ ...speech, text: "" }), content: [], stop_reason: null };
  const message = { ...start, ...(usage && { usage: { input_tokens: usage.input, output_tokens: 1 } }) };
  const events: object[] = [{ type: "message_start", message }, { type: "ping" }];
  let index = 0;
  const block = (content_block: object, deltas: readonly object[]) => {
    events.push({ type: "content_block_start", index, content_block });
    for (const delta of deltas) events.push({ type: "content_block_delta", index, delta });
    events.push({ type: "content_block_stop", index: index++ });
  };
  const { reasoning, text, tool } = speech;
  if (reasoning) {
    const signature = { type: "signature_delta", signature: "c2lnbmF0dXJl" };
    block({ type: "thinking", thinking: "", signature: "" }, [
      { type: "thinking_delta", thinking: reasoning },
      signature,
    ]);
  }
  if (text !== undefined) {
    block(
      { type: "text", text: "" },
      wordsOf(text).map((word) => ({ type: "text_delta", text: word })),
    );
  }
  if (tool) {
    block({ type: "tool_use", id: "toolu_1", name: tool.name, input: {} }, [
      { type: "input_json_delta", partial_json: tool.arguments },
    ]);
  }
  const delta = { stop_reason: messagesFinish(speech), stop_sequence: null };
  events.push({ type: "message_delta", delta, ...(usage && { usage: messagesUsage(speech) }) });
  events.push({ type: "message_stop" });
  return events.map((event) => JSON.stringify(event));
}
