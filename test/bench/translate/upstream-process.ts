import { type AnswerFormat, repeatIn, STREAMED_ANSWERS, WHOLE_ANSWERS } from "./answers.ts";

const encoder = new TextEncoder();
const PATHS: readonly (readonly [ending: string, format: AnswerFormat])[] = [
  ["/chat/completions", "chat"],
  ["/messages", "messages"],
  ["/responses", "responses"],
  [":generateContent", "gemini"],
  [":streamGenerateContent?alt=sse", "gemini"],
  ["/converse", "converse"],
];
const HEAD_CHARS = 2_000;
/** The encoded answer of the last request. Requests that begin alike have the same instructions and tools. */
let made = { format: "", head: "", whole: encoder.encode(""), frames: [] as readonly Uint8Array[] };

const server = Bun.serve({
  hostname: "127.0.0.1",
  port: 0,
  idleTimeout: 0,
  async fetch(request) {
    const format = PATHS.find(([ending]) => request.url.endsWith(ending))?.[1];
    if (!format) return new Response(null, { status: 404 });
    const body = await request.text();
    if (made.format !== format || made.head !== body.slice(0, HEAD_CHARS)) made = make(format, body);
    const isStream = body.includes('"stream":true') || request.url.includes(":stream");
    return isStream ? events(made.frames) : json(made.whole);
  },
});

process.send?.({ port: server.port });
process.once("disconnect", () => process.exit());

function make(format: AnswerFormat, request: string): typeof made {
  const frames = format === "converse" ? [] : STREAMED_ANSWERS[format];
  return {
    format,
    head: request.slice(0, HEAD_CHARS),
    whole: encoder.encode(repeatIn(WHOLE_ANSWERS[format], request)),
    frames: frames.map((frame) => encoder.encode(repeatIn(frame, request))),
  };
}

function json(body: Uint8Array<ArrayBuffer>): Response {
  return new Response(body, { headers: { "content-type": "application/json" } });
}

/** One write per event and event-loop turn, as a model generates tokens. */
function events(frames: readonly Uint8Array[]): Response {
  const source: Bun.DirectUnderlyingSource<Uint8Array> = {
    type: "direct",
    async pull(controller) {
      for (const frame of frames) {
        controller.write(frame);
        await controller.flush();
        await new Promise((resolve) => setImmediate(resolve));
      }
      controller.close();
    },
  };
  // Safe because Bun supports direct sources, which the DOM types do not declare.
  const body = new ReadableStream(source as unknown as UnderlyingSource<Uint8Array>);
  return new Response(body, { headers: { "content-type": "text/event-stream" } });
}
