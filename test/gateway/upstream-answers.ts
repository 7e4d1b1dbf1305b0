import type { UpstreamCall } from "../../src/upstream/upstream.ts";

type Send = (call: UpstreamCall) => Promise<Response>;

const USAGE = { input_tokens: 10, output_tokens: 3 };

/** Body of a whole message with usage 10 + 3. */
export function messageBody(content: readonly object[] = [{ type: "text", text: "Hi" }]): string {
  const head = { id: "msg_1", type: "message", role: "assistant", model: "theirs" };
  return JSON.stringify({ ...head, content, stop_reason: "end_turn", stop_sequence: null, usage: USAGE });
}

/** Answers every call with a whole message. */
export const answersWhole: Send = async () => new Response(messageBody());

/** Answers every call with a status and an empty body. */
export function answersStatus(status: number, headers: Record<string, string> = {}): Send {
  return async () => new Response("{}", { status, headers });
}

/** Never connects. */
export const refusesConnections: Send = () => Promise.reject(new Error("The connection was refused"));

/** The events of a streamed message "Hi there" with usage 10 + 3, in the order of a provider. */
export const STREAM: readonly string[] = [
  event("message_start", {
    message: { id: "msg_1", type: "message", role: "assistant", model: "theirs", content: [], usage: USAGE },
  }),
  event("content_block_start", { index: 0, content_block: { type: "text", text: "" } }),
  event("content_block_delta", { index: 0, delta: { type: "text_delta", text: "Hi" } }),
  event("content_block_delta", { index: 0, delta: { type: "text_delta", text: " there" } }),
  event("content_block_stop", { index: 0 }),
  event("message_delta", { delta: { stop_reason: "end_turn", stop_sequence: null }, usage: USAGE }),
  event("message_stop", {}),
];

/** One server-sent event of a message. */
export function event(type: string, data: object): string {
  return `event: ${type}\ndata: ${JSON.stringify({ type, ...data })}\n\n`;
}

/** A streamed answer, one chunk for each text. An `Error` breaks the connection. */
export function streamed(chunks: readonly (string | Error)[]): Response {
  const encoder = new TextEncoder();
  const left = [...chunks];
  const body = new ReadableStream<Uint8Array>({
    pull(controller) {
      const chunk = left.shift();
      if (chunk instanceof Error) controller.error(chunk);
      else if (chunk === undefined) controller.close();
      else controller.enqueue(encoder.encode(chunk));
    },
  });
  return new Response(body, { headers: { "content-type": "text/event-stream" } });
}
