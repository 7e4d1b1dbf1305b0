import { createSseDecoder } from "../wire/sse.ts";
import { type ReplyReader, UpstreamFault } from "../wire/wire-protocol.ts";
import type { Call, Reply } from "./gateway.ts";
import type { Meter } from "./meter.ts";
import type { Outcome } from "./outcome.ts";
import type { Quote } from "./quote.ts";
import { readBounded } from "./read-bounded.ts";
import type { Watch } from "./watch.ts";

/** A whole answer larger than this is cut off: no model writes 32 MiB. */
const ANSWER_BYTES_MAX = 32 * 1024 * 1024;
const LINGER_MS = 1000;

/** What reading one answer takes. */
export interface Relay {
  readonly call: Call;
  readonly quote: Quote;
  readonly meter: Meter;
  readonly watch: Watch;
  readonly reply: Reply;
}

/** Reads an answer to its end and passes on what the client may see before the settlement. */
export function relay(answer: Response, context: Relay): Promise<Outcome> {
  return context.quote.request.stream ? relayStream(answer, context) : relayWhole(answer, context);
}

async function relayWhole(answer: Response, { call, quote, meter }: Relay): Promise<Outcome> {
  const text = await readBounded(answer, ANSWER_BYTES_MAX);
  if (text === undefined) throw new UpstreamFault("answer too large");
  const part = call.wire.readWhole(quote.request, text);
  meter.add(part);
  return part.isReadable ? { kind: "finished", ending: part.text } : { kind: "empty" };
}

async function relayStream(answer: Response, context: Relay): Promise<Outcome> {
  const reader = context.call.wire.readStream(context.quote.request);
  const unsent = { text: "" };
  try {
    await pump(answer, reader, unsent, context);
  } catch (fault) {
    // An upstream that has said its finish has answered, whatever becomes of the connection after it.
    if (!reader.finished) throw fault;
  }
  if (!reader.finished) throw new UpstreamFault("ended without a finish");
  if (!context.meter.isReadable) return { kind: "empty" };
  return { kind: "finished", ending: unsent.text + reader.ending() };
}

/** Until the first output everything stays in `unsent`, so that another route can still answer instead. */
async function pump(
  answer: Response,
  reader: ReplyReader,
  unsent: { text: string },
  { meter, watch, reply }: Relay,
): Promise<void> {
  const body = answer.body?.getReader();
  const decoder = createSseDecoder();
  for (let ended = body === undefined; !ended && !reader.done; ) {
    const chunk = await body?.read();
    watch.progress();
    ended = chunk?.done ?? true;
    try {
      for (const event of chunk?.value ? decoder.push(chunk.value) : decoder.end()) {
        const part = reader.read(event);
        meter.add(part);
        unsent.text += part.text;
      }
    } finally {
      // Also when this chunk turned bad: what came before that was generated, and is charged.
      if (meter.hasOutput && unsent.text !== "") {
        watch.output();
        const text = unsent.text;
        unsent.text = "";
        await reply.write(text);
      }
    }
  }
  if (body && reader.done) letGo(body);
}

/** Reads the end of the connection behind the end marker, so that it can be used again; not for long. */
function letGo(body: ReadableStreamDefaultReader<Uint8Array>): void {
  const cancel = () => body.cancel().catch(() => undefined);
  const timer = setTimeout(cancel, LINGER_MS);
  body
    .read()
    .then(({ done }) => (done ? undefined : cancel()))
    .catch(() => undefined)
    .finally(() => clearTimeout(timer));
}
