import type { Body } from "../bodies/body.ts";
import type { Model } from "../domain/model.ts";
import { printCount } from "../wire/anthropic-messages/count-tokens.ts";
import { admitWithoutTokens } from "./admit.ts";
import { askForCount } from "./ask-for-count.ts";
import type { Call, Gateway, Reply } from "./gateway.ts";
import { selectModel } from "./plan.ts";
import { readRequest } from "./read-request.ts";
import { recordCaller } from "./request-record.ts";

/**
 * The story of one count of a prompt's tokens. It costs nothing and leaves no receipt, but is a request that the
 * limits count. Throws a `GatewayError` for what the client or the limits are to blame; no upstream can fail it.
 */
export async function countTokens(gateway: Gateway, call: Call, reply: Reply): Promise<void> {
  const sender = await gateway.authenticate(call.secret);
  recordCaller(call.record, sender);
  const { body, caller } = await readRequest(gateway, call, sender);
  const model = selectModel(gateway.catalog, caller, body.request);
  call.record.model = model.id;
  const admission = await admitWithoutTokens(gateway, { caller, call }, reply);
  const asked = askForCount(gateway, { call, body, model }, reply);
  const counted = asked.then((tokens) => tokens ?? countLocally(gateway, body, model));
  const tokens = await counted.finally(() => admission.settle(0));
  call.record.outcome = reply.signal.aborted ? "client_closed" : "ok";
  reply.end(printCount(tokens));
}

/** By our own vocabulary, which is near enough to know whether a prompt fits. */
async function countLocally({ tokens }: Gateway, body: Body, model: Model): Promise<number> {
  const { inputTokens } = await tokens.count({ input: await body.promptText(), output: "" });
  return inputTokens + body.request.input.images * model.imageTokens;
}
