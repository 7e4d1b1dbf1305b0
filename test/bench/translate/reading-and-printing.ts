import type { CodecSession } from "../../../src/wire/protocol-pair.ts";
import { findProtocolPair } from "../../../src/wire/protocol-pair.ts";
import { WIRES } from "../../../src/wire/registry.ts";
import type { SseEvent } from "../../../src/wire/sse.ts";
import { createSseDecoder } from "../../../src/wire/sse.ts";
import { medianOf } from "../percentiles.ts";
import { STREAMED_ANSWERS } from "./answers.ts";
import { type AskSize, OUTPUT_TOKENS_MAX, printAsk } from "./asks.ts";
import { SIZES, type TranslatePlan, WAYS, type Way } from "./plan.ts";

/** What translation costs by itself, without a network; medians, beside the client's own format. */
export interface PureResult extends Way {
  /** Microseconds for each event of a streamed answer. */
  readonly eventUs: number;
  readonly ownEventUs: number;
  readonly requests: readonly RequestCost[];
}

interface RequestCost {
  readonly size: AskSize;
  readonly bytes: number;
  /** Microseconds for each KB, from the client's body to the upstream's. */
  readonly kbUs: number;
  readonly ownKbUs: number;
}

const BATCHES = 9;
const HEAD = { id: "0190aaaa", createdAtS: 1_700_000_000, inputTokens: 100 };
const TRAITS = { reasoning: "none", sampling: true } as const;

export function measurePure({ pureMs }: TranslatePlan): readonly PureResult[] {
  return WAYS.map((way) => {
    const own = { client: way.client, upstream: way.client };
    return {
      ...way,
      eventUs: eventUsOf(way, pureMs),
      ownEventUs: eventUsOf(own, pureMs),
      requests: SIZES.map((size) => {
        const body = printAsk({ format: way.client, size, model: "bench", stream: true });
        const bytes = Buffer.byteLength(body);
        const usOf = (each: Way) => requestUsOf(each, body, pureMs) / (bytes / 1024);
        return { size, bytes, kbUs: usOf(way), ownKbUs: usOf(own) };
      }),
    };
  });
}

function eventUsOf(way: Way, ms: number): number {
  const body = printAsk({ format: way.client, size: "usual", model: "bench", stream: true });
  const dialogue = beginDialogue(way, body);
  const events = createSseDecoder().push(Buffer.from(STREAMED_ANSWERS[way.upstream].join("")));
  return usOf(() => passOn(dialogue, events), ms) / events.length;
}

function passOn(dialogue: CodecSession, events: readonly SseEvent[]): number {
  const reader = dialogue.readStream(HEAD);
  let chars = 0;
  for (const event of events) chars += reader.read(event).text.length;
  return chars + reader.ending().length;
}

function requestUsOf(way: Way, body: string, ms: number): number {
  const options = {
    model: "host-model",
    outputTokensMax: OUTPUT_TOKENS_MAX,
    outputLimitField: undefined,
    stream: true,
    traits: TRAITS,
  };
  return usOf(() => {
    const dialogue = beginDialogue(way, body);
    return dialogue.textBytes(options) + dialogue.printUpstreamRequest(options).length;
  }, ms);
}

function beginDialogue({ client, upstream }: Way, body: string): CodecSession {
  const request = WIRES[client].parseRequest(body);
  const exchange = findProtocolPair(WIRES[client], [upstream]);
  if (!exchange) throw new Error(`There is no way from ${client} to ${upstream}`);
  return exchange.begin(request, request.readChat);
}

/** Median over batches, behind one that warms up; in microseconds a run. */
function usOf(run: () => number, ms: number): number {
  const batch = () => {
    const startedAt = performance.now();
    let runs = 0;
    while (performance.now() - startedAt < ms / BATCHES) {
      run();
      runs += 1;
    }
    return ((performance.now() - startedAt) * 1000) / runs;
  };
  batch();
  return medianOf(Array.from({ length: BATCHES }, batch));
}
