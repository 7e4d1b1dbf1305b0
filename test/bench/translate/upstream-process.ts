import { repeatIn, STREAMED_ANSWERS, WHOLE_ANSWERS } from "./answers.ts";
import type { Format } from "./requests.ts";

const encoder = new TextEncoder();
const PATHS: readonly (readonly [ending: string, format: Format])[] = [
  ["/chat/completions", "chat"],
  ["/messages", "messages"],
  ["/responses", "responses"],
];
/** The encoded answer of the last request. All requests of a run are equal. */
let made = { request: "", whole: encoder.encode(""), frames: [] as readonly Uint8Array[] };

const server = Bun.serve({
  hostname: "127.0.0.1",
  port: 0,
  idleTimeout: 0,
  async fetch(request) {
    const format = PATHS.find(([ending]) => request.url.endsWith(ending))?.[1];
    if (!format) return new Response(null, { status: 404 });
    const body = await request.text();
    if (made.request !== body) made = make(format, body);
    return body.includes('"stream":true') ? events(made.frames) : json(made.whole);
  },
});

process.send?.({ port: server.port });
process.once("disconnect", () => process.exit());

function make(format: Format, request: string): typeof made {
  return {
    request,
    whole: encoder.encode(repeatIn(WHOLE_ANSWERS[format], request)),
    frames: STREAMED_ANSWERS[format].map((frame) => encoder.encode(repeatIn(frame, request))),
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
