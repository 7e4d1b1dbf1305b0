import { BURST_MODEL, SLOW_MODEL, STREAM_FRAMES, WHOLE_BODY } from "./answers.ts";

/** Ends one slow stream. */
type Release = () => void;

const encoder = new TextEncoder();
const wholeBytes = encoder.encode(WHOLE_BODY);
const frameBytes = STREAM_FRAMES.map((frame) => encoder.encode(frame));
const burstBytes = encoder.encode(STREAM_FRAMES.join(""));
const waiting = new Set<Release>();

const server = Bun.serve({
  hostname: "127.0.0.1",
  port: 0,
  idleTimeout: 0,
  async fetch(request) {
    if (request.url.endsWith("/finish")) return finishSlowStreams();
    const body = await request.text();
    if (!body.includes('"stream":true')) return json(wholeBytes);
    if (body.includes(`"${BURST_MODEL}"`)) return events(burstBytes);
    return events(body.includes(`"${SLOW_MODEL}"`) ? slowly() : eventByEvent());
  },
});

process.send?.({ port: server.port });
process.once("disconnect", () => process.exit());

function json(body: Uint8Array<ArrayBuffer>): Response {
  return new Response(body, { headers: { "content-type": "application/json" } });
}

/** One write per event and event-loop turn, as a model generates tokens. */
function eventByEvent(): ReadableStream<Uint8Array> {
  return streamOf(async (controller) => {
    for (const frame of frameBytes) {
      controller.write(frame);
      await controller.flush();
      await nextTurn();
    }
  });
}

/** Sends one event, and the others when the stream is released. */
function slowly(): ReadableStream<Uint8Array> {
  return streamOf(async (controller) => {
    controller.write(burstBytes.subarray(0, frameBytes[0]?.length));
    await controller.flush();
    await released();
    controller.write(burstBytes.subarray(frameBytes[0]?.length));
  });
}

function streamOf(
  write: (controller: ReadableStreamDirectController) => Promise<void>,
): ReadableStream<Uint8Array> {
  const source: Bun.DirectUnderlyingSource<Uint8Array> = {
    type: "direct",
    pull: (controller) => write(controller).then(() => controller.close()),
  };
  // Safe because Bun supports direct sources, which the DOM types do not declare.
  return new ReadableStream(source as unknown as UnderlyingSource<Uint8Array>);
}

function events(body: ReadableStream<Uint8Array> | Uint8Array<ArrayBuffer>): Response {
  return new Response(body, { headers: { "content-type": "text/event-stream" } });
}

function released(): Promise<void> {
  return new Promise((resolve) => {
    waiting.add(resolve);
  });
}

function nextTurn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

function finishSlowStreams(): Response {
  const count = waiting.size;
  for (const release of waiting) release();
  waiting.clear();
  return Response.json({ finished: count });
}
