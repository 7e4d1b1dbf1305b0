import type { AnswerReader } from "../wire/codec-session.ts";
import type { AnswerHead } from "../wire/codecs.ts";
import { type ReplyPart, type ReplyReader, UpstreamFault } from "../wire/protocol.ts";
import { createSseDecoder } from "../wire/sse.ts";
import type { Call, Gateway, Reply } from "./gateway.ts";
import type { OpenHold } from "./hold.ts";
import { sourceOf } from "./print-options.ts";
import { guessInput } from "./quote.ts";
import { type BodyBytes, readBounded } from "./read-bounded.ts";
import { failed, type Outcome, unsayable } from "./request.ts";
import type { Watch } from "./timeouts.ts";

/** An answer that takes more memory than this is cut off: no model writes 32 MiB. */
const ANSWER_BYTES_MAX = 32 * 1024 * 1024;
/** A vector is long, and there is one for each prompt: four thousand numbers of a dozen digits, and some. */
const VECTOR_BYTES_MAX = 64 * 1024;
/** A connection whose end does not come is not worth waiting longer for. */
const LINGER_MS = 1000;

/** What reading one answer takes. */
export interface Relay {
  readonly call: Call;
  readonly reader: AnswerReader;
  readonly hold: OpenHold;
  readonly watch: Watch;
  readonly reply: Reply;
  /** Called when the first output comes; maybe again. */
  onOutput(): void;
}

/** Reads an answer to its end and passes on what the client may see before the settlement. */
export function relay(gateway: Gateway, answer: Response, context: Relay): Promise<Outcome> {
  return context.hold.quote.request.stream
    ? relayStream(gateway, answer, context)
    : relayWhole(gateway, answer, context);
}

async function relayWhole(gateway: Gateway, answer: Response, context: Relay): Promise<Outcome> {
  const { hold, watch, reply } = context;
  const { quote, meter } = hold;
  const bytesMax = Math.max(ANSWER_BYTES_MAX, (quote.request.input.prompts ?? 1) * VECTOR_BYTES_MAX);
  // An answer whose length is known is there; another may begin long after its head.
  if (answer.headers.has("content-length")) watch.began();
  const body = await readBounded(answer, bytesMax, () => {
    watch.began();
    watch.progress();
  });
  if (body === undefined) return failed("answer_too_large", { isFinal: true });
  if (body.fault && reply.signal.aborted) throw body.fault;
  const part = await readWhole(gateway, context, body);
  meter.add(part);
  if (part.unsayable) return unsayable(part.unsayable);
  return part.isReadable ? { kind: "finished", ending: part.text } : { kind: "empty" };
}

/** A whole answer is one, whatever becomes of its connection: it was paid for. Throws the fault of one cut off. */
async function readWhole(
  { bodies }: Gateway,
  context: Relay,
  { blocks, fault }: BodyBytes,
): Promise<ReplyPart> {
  const { call, reader, hold } = context;
  const answer = { reader, client: call.wire, owner: hold.walletId, head: headOf(context), blocks };
  try {
    return await bodies.readAnswer(answer);
  } catch (unreadable) {
    throw fault ?? unreadable;
  }
}

async function relayStream(gateway: Gateway, answer: Response, context: Relay): Promise<Outcome> {
  const reader = context.reader.readStream(headOf(context));
  const unsent: Unsent = { text: "", bytes: 0 };
  try {
    await pump(gateway, answer, { reader, unsent, context });
  } catch (fault) {
    // An upstream that has said its finish has answered, whatever becomes of the connection after it.
    if (!reader.finished) throw fault;
    context.watch.abort();
  }
  if (!reader.finished) throw new UpstreamFault("The answer ended without a finish");
  if (!context.hold.meter.isReadable) return { kind: "empty" };
  return endWith(unsent.text, reader);
}

/** Some answers turn out only at their end to be none that the client could be told. */
function endWith(unsent: string, reader: ReplyReader): Outcome {
  try {
    return { kind: "finished", ending: unsent + reader.ending() };
  } catch (fault) {
    if (fault instanceof UpstreamFault) return unsayable(fault);
    throw fault;
  }
}

function headOf({ call, hold: { quote, meter } }: Relay): AnswerHead {
  return {
    source: meter.route && sourceOf(meter.route),
    id: call.id.replaceAll("-", ""),
    createdAtS: call.createdAtS,
    inputTokens: guessInput(quote),
  };
}

/** What a stream makes us keep, beside what the meter keeps to be counted. */
interface Unsent {
  /** What the client will see next: everything until the first output, so that another route can still answer. */
  text: string;
  /** Bytes that came since the client last saw something, or the meter got something to count that it does not see. */
  bytes: number;
}

/** Passes on an answer as it comes. Throws {@link UpstreamFault} when too much of it would have to be kept. */
async function pump(
  { share }: Gateway,
  answer: Response,
  { reader, unsent, context }: { reader: ReplyReader; unsent: Unsent; context: Relay },
): Promise<void> {
  const { hold, watch } = context;
  const { meter } = hold;
  const body = answer.body?.getReader();
  const decoder = createSseDecoder();
  const read = (bytes: Uint8Array | undefined) => {
    for (const event of bytes ? decoder.push(bytes) : decoder.end()) {
      const part = reader.read(event);
      meter.add(part);
      unsent.text += part.text;
      if (part.generated !== "") unsent.bytes = 0;
    }
  };
  for (let ended = body === undefined; !ended && !reader.done; ) {
    const chunk = await body?.read();
    // Behind its finish an upstream gets one short limit in all, whatever it goes on saying.
    if (!reader.finished) watch.progress();
    ended = chunk?.done ?? true;
    unsent.bytes += chunk?.value?.byteLength ?? 0;
    if (Math.max(unsent.bytes, meter.generatedChars) > ANSWER_BYTES_MAX)
      throw new UpstreamFault("The answer is too long");
    try {
      for (const piece of piecesOf(chunk?.value)) await share.run(hold.walletId, () => read(piece));
      if (reader.finished) watch.finished();
    } finally {
      // Also when this chunk turned bad: what came before that was generated, and is charged.
      const room = meter.hasOutput ? passOn(unsent, context) : undefined;
      if (room !== undefined) await watch.untilRead(room);
    }
  }
  if (body && reader.done) letGo(body);
}

/** What is read in one piece: of the smallest events some thousand, which take some milliseconds. */
const PIECE_BYTES_MAX = 64 * 1024;

/** A chunk is as large as what waited in the kernel; at the end there is none, which is a piece too. */
function piecesOf(chunk: Uint8Array | undefined): readonly (Uint8Array | undefined)[] {
  if (!chunk || chunk.byteLength <= PIECE_BYTES_MAX) return [chunk];
  const pieces: Uint8Array[] = [];
  for (let start = 0; start < chunk.byteLength; start += PIECE_BYTES_MAX) {
    pieces.push(chunk.subarray(start, start + PIECE_BYTES_MAX));
  }
  return pieces;
}

/**
 * Takes note that the upstream puts something out, whether or not the client gets to see it, and hands over what
 * it may see. Returns what to wait for when it reads too slowly.
 */
function passOn(
  unsent: Unsent,
  { hold: { meter }, watch, reply, onOutput }: Relay,
): Promise<void> | undefined {
  watch.began();
  onOutput();
  if (unsent.text === "") return undefined;
  const { text } = unsent;
  unsent.text = "";
  unsent.bytes = 0;
  meter.shown();
  return reply.write(text);
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
