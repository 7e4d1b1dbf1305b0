import type { Body } from "../bodies/body.ts";
import { costOf, type Price } from "../domain/model.ts";
import type { Nanos } from "../domain/money.ts";
import { inputTokensOf, NO_USAGE, type Usage } from "../domain/usage.ts";
import type { ChargeSource } from "../ledger/ledger.ts";
import type { Gateway } from "./gateway.ts";
import type { OpenHold } from "./hold.ts";
import { guessInput, outputTokensMaxOf, priceOf } from "./quote.ts";
import type { Outcome } from "./request.ts";

/** What a request is charged, and why. */
export interface Charge {
  readonly amount: Nanos;
  readonly source: ChargeSource;
  readonly usage: Usage | undefined;
  /** The price of those tokens; `undefined` when nothing is charged. */
  readonly price: Price | undefined;
}

const NOTHING: Charge = { amount: 0n, source: "none", usage: undefined, price: undefined };

/**
 * Returns what each way of ending costs. Finished: as reported, else as counted here. Empty: as reported, else nothing.
 * Broken off by the upstream after the client was shown some: input and output so far. Broken off by the client: the
 * same, and the input alone before any output, if an upstream had the request and the operator charges for that. Else
 * nothing.
 */
export async function chargeFor(
  outcome: Outcome,
  hold: OpenHold,
  gateway: Pick<Gateway, "tokens" | "clientDisconnect">,
): Promise<Charge> {
  const { meter } = hold;
  const { tokens } = gateway;
  switch (outcome.kind) {
    case "finished":
    case "unsayable":
      return chargeReported(hold) ?? chargeDoubtful(hold, tokens);
    case "empty":
      return meter.reported() ? (chargeReported(hold) ?? chargeDoubtful(hold, tokens)) : chargeInput(hold);
    case "failed":
      return meter.isShown ? estimate(hold, tokens) : NOTHING;
    case "revoked":
    case "hung_up": {
      const isCharged = meter.hasOutput || gateway.clientDisconnect !== "free";
      return outcome.isSent && isCharged ? estimate(hold, tokens, true) : NOTHING;
    }
  }
}

/** As reported; `undefined` when nothing was, or when it cannot be charged as it is. */
function chargeReported(hold: OpenHold): Charge | undefined {
  const reported = hold.meter.reported();
  const isWhole = reported !== undefined && hold.meter.excess() === undefined;
  return isWhole ? chargeUsage(hold, "reported", reported) : undefined;
}

/** The countable part of a report on an empty answer; nothing where that has no input. */
function chargeInput(hold: OpenHold): Charge {
  const counted = hold.meter.counted();
  return inputTokensOf(counted) > 0 ? chargeUsage(hold, "estimated", counted) : NOTHING;
}

/** What is left of a report that was cut. Counted where nothing is left, or where a count may be dearer. */
async function chargeDoubtful(hold: OpenHold, tokens: Gateway["tokens"]): Promise<Charge> {
  const reported = hold.meter.reported();
  if (reported === undefined) return estimate(hold, tokens);
  const asCut = chargeUsage(hold, "estimated", reported);
  if (!mayUndercharge(hold, reported)) return asCut;
  const counted = await estimate(hold, tokens);
  return counted.amount > asCut.amount ? counted : asCut;
}

/**
 * Input as reported, else counted, or the dearer of both where a report has some of it; output the larger of report and
 * count. A count is never more than was quoted. It is worth a longer wait when no client waits for the end of its answer.
 */
async function estimate(hold: OpenHold, tokens: Gateway["tokens"], isPatient = false): Promise<Charge> {
  const { meter, quote, body } = hold;
  const { request } = quote;
  const reported = meter.counted();
  const countsInput = !meter.hasInput() || inputTokensOf(reported) === 0 || mayUndercharge(hold, reported);
  const prompt = countsInput ? await promptOf(body) : "";
  const counted = await tokens.count({ input: prompt ?? "", output: meter.generated(), isPatient });
  const outputTokens = Math.max(
    reported.outputTokens,
    Math.min(counted.outputTokens, outputTokensMaxOf(quote)),
  );
  const asReported = chargeUsage(hold, "estimated", { ...reported, outputTokens });
  if (!countsInput) return asReported;
  const { tokenIds = 0, images } = request.input;
  const unread = tokenIds + images * quote.model.imageTokens;
  const read = prompt === undefined ? guessInput(quote) : counted.inputTokens;
  const inputTokens = Math.min(read + unread, quote.inputTokens);
  const asCounted = chargeUsage(hold, "estimated", { ...NO_USAGE, inputTokens, outputTokens });
  return asCounted.amount >= asReported.amount ? asCounted : asReported;
}

/** The text of a prompt; `undefined` when the worker that had its bytes has died: what was answered is charged all the same. */
async function promptOf(body: Body): Promise<string | undefined> {
  try {
    return await body.promptText();
  } catch {
    return undefined;
  }
}

/** Whether a report was cut so far, to classes so cheap, that a count of the prompt may cost more than what is left. */
function mayUndercharge({ meter, quote }: OpenHold, reported: Usage): boolean {
  const { route } = meter;
  if (!route || meter.excess() === undefined) return false;
  const input = { ...reported, outputTokens: 0 };
  const counted = { ...NO_USAGE, inputTokens: quote.inputTokens };
  return costOf(input, priceOf(quote, route, input)) < costOf(counted, priceOf(quote, route, counted));
}

function chargeUsage({ meter, quote }: OpenHold, source: ChargeSource, usage: Usage): Charge {
  if (!meter.route) return NOTHING;
  const price = priceOf(quote, meter.route, usage);
  return { amount: costOf(usage, price), source, usage, price };
}
