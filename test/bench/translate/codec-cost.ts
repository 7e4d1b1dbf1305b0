import type { CodecSession } from "../../../src/wire/format-pair.ts";
import { findFormatPair } from "../../../src/wire/format-pair.ts";
import { WIRES } from "../../../src/wire/registry.ts";
import type { SseEvent } from "../../../src/wire/sse.ts";
import { createSseDecoder } from "../../../src/wire/sse.ts";
import { medianOf } from "../measurements.ts";
import { STREAMED_ANSWERS } from "./answers.ts";
import { FORMAT_PAIRS, type FormatPair, SIZES, type TranslatePlan } from "./plan.ts";
import { encodeRequest, OUTPUT_TOKENS_MAX, type RequestSize } from "./requests.ts";

/** Cost of the codecs without a network, beside the client's own format; medians. */
export interface PureResult extends FormatPair {
  /** Microseconds per event of a streamed answer. */
  readonly eventUs: number;
  readonly ownEventUs: number;
  readonly requests: readonly RequestCost[];
}

interface RequestCost {
  readonly size: RequestSize;
  readonly bytes: number;
  /** Microseconds per KB, from the client's body to the upstream's. */
  readonly kbUs: number;
  readonly ownKbUs: number;
}

const BATCHES = 9;
const HEAD = { id: "0190aaaa", createdAtS: 1_700_000_000, inputTokens: 100 };
const TRAITS = { reasoning: "none", sampling: true } as const;

export function measurePure({ pureMs }: TranslatePlan): readonly PureResult[] {
  return FORMAT_PAIRS.map((pair) => {
    const own = { client: pair.client, upstream: pair.client };
    return {
      ...pair,
      eventUs: eventUsOf(pair, pureMs),
      ownEventUs: eventUsOf(own, pureMs),
      requests: SIZES.map((size) => {
        const body = encodeRequest({ format: pair.client, size, model: "bench", stream: true });
        const bytes = Buffer.byteLength(body);
        const usOf = (each: FormatPair) => requestUsOf(each, body, pureMs) / (bytes / 1024);
        return { size, bytes, kbUs: usOf(pair), ownKbUs: usOf(own) };
      }),
    };
  });
}

function eventUsOf(pair: FormatPair, ms: number): number {
  const body = encodeRequest({ format: pair.client, size: "usual", model: "bench", stream: true });
  const dialogue = beginSession(pair, body);
  const events = createSseDecoder().push(Buffer.from(STREAMED_ANSWERS[pair.upstream].join("")));
  return usOf(() => relayEvents(dialogue, events), ms) / events.length;
}

function relayEvents(dialogue: CodecSession, events: readonly SseEvent[]): number {
  const reader = dialogue.readStream(HEAD);
  let chars = 0;
  for (const event of events) chars += reader.read(event).text.length;
  return chars + reader.ending().length;
}

function requestUsOf(pair: FormatPair, body: string, ms: number): number {
  const options = {
    model: "host-model",
    outputTokensMax: OUTPUT_TOKENS_MAX,
    outputLimitField: undefined,
    stream: true,
    traits: TRAITS,
  };
  return usOf(() => {
    const dialogue = beginSession(pair, body);
    return dialogue.textBytes(options) + dialogue.printUpstreamRequest(options).length;
  }, ms);
}

function beginSession({ client, upstream }: FormatPair, body: string): CodecSession {
  const request = WIRES[client].parseRequest(body);
  const exchange = findFormatPair(WIRES[client], [upstream]);
  if (!exchange) throw new Error(`There is no way from ${client} to ${upstream}`);
  return exchange.begin(request, request.readChat);
}

/** Median over batches, after one to warm up, in microseconds per run. */
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
