import { costlyAnswer } from "./costly-answers.ts";
import { THINK, THINKING_MS } from "./measure-memory.ts";

// A provider of all formats that answers immediately, with a short text or with the costly answer that the
// model names.
const server = Bun.serve({
  hostname: "127.0.0.1",
  port: 0,
  idleTimeout: 0,
  maxRequestBodySize: 64 * 1024 * 1024,
  async fetch(request) {
    const body = Buffer.from(await request.arrayBuffer());
    const format = formatOf(new URL(request.url).pathname);
    if (body.includes(THINK)) await Bun.sleep(THINKING_MS);
    return costlyAnswer(body, format) ?? Response.json(SHORT_ANSWERS[format]);
  },
});
process.send?.({ port: server.port });
process.once("disconnect", () => process.exit());

const SHORT_ANSWERS = {
  chat: {
    id: "c",
    object: "chat.completion",
    created: 1,
    model: "m",
    choices: [{ index: 0, message: { role: "assistant", content: "hello" }, finish_reason: "stop" }],
    usage: { prompt_tokens: 9, completion_tokens: 1, total_tokens: 10 },
  },
  messages: {
    id: "m",
    type: "message",
    role: "assistant",
    model: "m",
    content: [{ type: "text", text: "hello" }],
    stop_reason: "end_turn",
    stop_sequence: null,
    usage: { input_tokens: 9, output_tokens: 1 },
  },
  responses: {
    id: "r",
    object: "response",
    created_at: 1,
    status: "completed",
    model: "m",
    output: [
      {
        type: "message",
        id: "i",
        role: "assistant",
        status: "completed",
        content: [{ type: "output_text", text: "hello", annotations: [] }],
      },
    ],
    usage: { input_tokens: 9, output_tokens: 1, total_tokens: 10 },
  },
} as const;

function formatOf(path: string): keyof typeof SHORT_ANSWERS {
  if (path.endsWith("/messages")) return "messages";
  return path.endsWith("/responses") ? "responses" : "chat";
}
