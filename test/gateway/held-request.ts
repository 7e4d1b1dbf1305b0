import { openBody } from "../../src/bodies/open-body.ts";
import type { Model, Route } from "../../src/domain/model.ts";
import { NO_USAGE, type Usage } from "../../src/domain/usage.ts";
import type { OpenHold } from "../../src/gateway/hold.ts";
import { createMeter } from "../../src/gateway/meter.ts";
import { quoteRequest } from "../../src/gateway/quote.ts";
import type { InputSize, ModelRequest, ReplyPart } from "../../src/wire/protocol.ts";
import { verbatimContext } from "../../src/wire/protocol-pair.ts";
import { WIRES } from "../../src/wire/registry.ts";
import { scriptedModel, scriptedRoute, TEST_PRICE } from "../support/test-catalog.ts";

/** Every token costs twice as much as at the test price, written ones included. */
export const LONG_PRICE = {
  input: TEST_PRICE.input * 2n,
  output: TEST_PRICE.output * 2n,
  cachedInput: TEST_PRICE.cachedInput * 2n,
  cacheWrite: TEST_PRICE.cacheWrite * 2n,
  cacheWrite1h: TEST_PRICE.cacheWrite1h * 2n,
};

export interface OpenHoldOptions {
  readonly usage?: Partial<Usage> | undefined;
  readonly generated?: string;
  readonly isShown?: boolean;
  readonly input?: Partial<InputSize>;
  readonly request?: Partial<ModelRequest>;
  readonly model?: Partial<Model>;
  readonly route?: Partial<Route>;
  readonly betas?: readonly string[];
  readonly isVerbatim?: boolean;
}

/**
 * A hold of a request of 400 bytes and 1,000 tokens of output, with a window of 10,000 tokens, and a meter that has read
 * an answer. Input costs 1,000 nanos a token, cached 100, written 1,250 and 2,000, output 2,000.
 */
export function openHold(options: OpenHoldOptions = {}): OpenHold & { readonly route: Route } {
  const { usage, generated = "", isShown = false, betas = [], isVerbatim = true } = options;
  const route = scriptedRoute("up", "theirs", options.route);
  const model = scriptedModel("m", "anthropic", { contextWindow: 10_000, routes: [route], ...options.model });
  const size = { textBytes: 400, mediaBytes: 0, images: 0, unbounded: false, serverTools: false };
  const body = JSON.stringify({ model: "m", max_tokens: 1_000, messages: [{ role: "user", content: "hi" }] });
  const { messages: wire } = WIRES;
  const request = { ...wire.parseRequest(body), input: { ...size, ...options.input }, ...options.request };
  const reader = {
    wire,
    isVerbatim,
    context: verbatimContext(request),
    readStream: () => wire.readStream(request),
    readWhole: () => wire.readWhole(request, ""),
  };
  const quote = quoteRequest({ model, ways: new Map([[route, reader]]), request, betas, mayClamp: false });
  const meter = createMeter(quote, () => 0);
  meter.restart(route);
  const isOutput = generated !== "";
  const part: ReplyPart = { text: "", isOutput, isReadable: isOutput, generated, usage: undefined };
  meter.add({ ...part, usage: usage && { ...NO_USAGE, ...usage } });
  if (isShown) meter.shown();
  const caller = { keyId: "k", ended: undefined, cut: undefined, isKnown: false };
  const opened = openBody(wire, body);
  const bodyOf = { ...opened, promptText: request.promptText };
  return { walletId: "w", holdId: "h", quote, meter, caller, route, body: bodyOf };
}
