import type { Body, Soon } from "../bodies/body.ts";
import { costOf, type Price } from "../domain/model.ts";
import type { Nanos } from "../domain/money.ts";
import type { Tier } from "../domain/tiers.ts";
import { hasFees } from "../domain/tool-fees.ts";
import {
  fitModalities,
  inputTokensOf,
  NO_USAGE,
  type Speech,
  type Usage,
  withSpeech,
} from "../domain/usage.ts";
import type { ChargeSource } from "../ledger/records.ts";
import { priceOf, pricesOf } from "./answer-prices.ts";
import type { Gateway } from "./gateway.ts";
import { estimateInputTokens, spokenTokensOf, totalOutputMaxOf, usualUnitsOf } from "./quote.ts";
import type { HeldRequest, Outcome } from "./request.ts";

/** The amount that a request is charged, and where its usage comes from. */
export interface Charge {
  readonly amount: Nanos;
  readonly source: ChargeSource;
  readonly usage: Usage | undefined;
  /** The price of those tokens; `undefined` when nothing is charged. */
  readonly price: Price | undefined;
  /** The service tier of that price; `undefined` for the standard one. */
  readonly tier?: Tier | undefined;
  /** Whether the answer reported a tier that was not believed. */
  readonly isTierDoubted?: true | undefined;
  /** What the upstream bills for that usage, 0 when nothing is charged; `undefined` when it is unknown. */
  readonly upstreamCost: Nanos | undefined;
}

/** As much of a request as its charge depends on. */
export type Metered = Pick<HeldRequest, "meter" | "quote" | "body">;

const NOTHING: Charge = {
  amount: 0n,
  source: "none",
  usage: undefined,
  price: undefined,
  upstreamCost: 0n,
};

/**
 * Computes the charge of a request by its outcome:
 * - finished: the reported usage, else a local count;
 * - empty: the reported usage, else nothing;
 * - failed after the client saw output: input and output so far; before that, nothing;
 * - ended by the client or its key before an upstream had the request: nothing;
 * - ended by the client or its key later: input, and output so far;
 * - ended so before any output, with `client_disconnect: free`: nothing.
 */
export function chargeFor(
  outcome: Outcome,
  metered: Metered,
  { tokens, clientDisconnect }: Pick<Gateway, "tokens" | "clientDisconnect">,
): Soon<Charge> {
  const { meter } = metered;
  switch (outcome.kind) {
    case "finished":
    case "unrepresentable":
      return chargeReported(metered) ?? chargeUnreliable(metered, tokens);
    case "empty":
      return meter.reported()
        ? (chargeReported(metered) ?? chargeUnreliable(metered, tokens))
        : chargeInput(metered);
    case "failed":
      return meter.isCommitted ? estimate(metered, tokens, "broken") : NOTHING;
    case "revoked":
    case "client_disconnected": {
      const isCharged = meter.hasOutput || clientDisconnect !== "free";
      return outcome.isSent && isCharged ? estimate(metered, tokens, "left") : NOTHING;
    }
  }
}

/** Charges the reported usage; `undefined` without a report, and for one that was rejected or cut. */
function chargeReported(metered: Metered): Charge | undefined {
  const reported = metered.meter.reported();
  const isWhole = reported !== undefined && metered.meter.excess() === undefined;
  return isWhole ? chargeUsage(metered, "reported", reported) : undefined;
}

/** Charges the countable part of the report on an empty answer; nothing without any input in it. */
function chargeInput(metered: Metered): Charge {
  const counted = metered.meter.counted();
  return inputTokensOf(counted) > 0 ? chargeUsage(metered, "estimated", counted) : NOTHING;
}

/** Charges the dearer of a cut report and the local count. Without a usable report, charges the count. */
async function chargeUnreliable(metered: Metered, tokens: Gateway["tokens"]): Promise<Charge> {
  const reported = metered.meter.reported();
  if (reported === undefined) return estimate(metered, tokens, "complete");
  const asCut = chargeUsage(metered, "estimated", reported);
  if (!mayUndercharge(metered, reported)) return asCut;
  const counted = await estimate(metered, tokens, "complete");
  return counted.amount > asCut.amount ? counted : asCut;
}

/** How far an answer came: to its end, or broken off while the client waited or after it had gone. */
type Progress = "complete" | "broken" | "left";

/**
 * Charges input and output by report and local count. Input: the report, the count without one, or the dearer
 * of both for a report that was cut. A count never exceeds the quote. The count of a client that has left may
 * take long, because no client waits for it.
 */
async function estimate(metered: Metered, tokens: Gateway["tokens"], progress: Progress): Promise<Charge> {
  const { meter, quote, body } = metered;
  const reported = meter.counted();
  if (quote.model.price.unit) return chargeUnits(metered, reported);
  const countsInput = !meter.hasInput() || inputTokensOf(reported) === 0 || mayUndercharge(metered, reported);
  const prompt = countsInput ? await promptOf(body) : "";
  const output = meter.generated();
  const texts = await tokens.count({ input: prompt ?? "", output, isPatient: progress === "left" });
  const isReported = progress === "complete" && meter.hasOutputReport();
  const spoken = isReported ? 0 : spokenTokensOf(quote, meter.audioBytes);
  const outputTokens = isReported
    ? reported.outputTokens
    : outputOf(metered, texts.outputTokens + spoken, progress);
  const asReported = chargeSpeech(metered, { ...reported, outputTokens }, { heard: 0, spoken });
  if (!countsInput) return asReported;
  const { tokenIds = 0, fileTokens = 0, audioTokens: heard = 0, images } = quote.request.input;
  const outsideText = tokenIds + fileTokens + heard + images * quote.model.imageTokens;
  const inText = prompt === undefined ? estimateInputTokens(quote) : texts.inputTokens;
  const inputTokens = Math.min(inText + outsideText, quote.inputTokens);
  const { calls } = reported;
  const counted = { ...NO_USAGE, inputTokens, outputTokens, calls };
  const asCounted = chargeSpeech(metered, counted, { heard, spoken });
  return asCounted.amount >= asReported.amount ? asCounted : asReported;
}

/** Charges speech at the dearer price of audio and text. */
function chargeSpeech(metered: Metered, counted: Usage, speech: Speech): Charge {
  const asText = chargeUsage(metered, "estimated", counted);
  const withAudio = withSpeech(counted, speech);
  if (withAudio === counted) return asText;
  const asAudio = chargeUsage(metered, "estimated", withAudio);
  return asAudio.amount > asText.amount ? asAudio : asText;
}

/**
 * The output of an estimate without a report of the whole answer. A report may be of the beginning: the larger of
 * report and count. Nothing before the first output: some formats report a token at the start of a message.
 */
function outputOf({ meter, quote }: Metered, counted: number, progress: Progress): number {
  const { outputTokens } = meter.counted();
  if (progress === "left" && !meter.hasOutput) return 0;
  const unseen = meter.hasOutput ? (quote.request.outputTokensUsual ?? 0) : 0;
  const { choices } = quote.request;
  const { unreportedImages } = meter;
  const unseenMax = Math.min(unreportedImages ?? choices, choices) * quote.outputTokensMax;
  const output = Math.min(Math.max(counted, unseen), unseenMax);
  // The report is of other images then.
  const all = unreportedImages === undefined ? output : outputTokens + output;
  return Math.max(outputTokens, Math.min(all, totalOutputMaxOf(quote)));
}

/** Charges the larger of reported and requested units. Nothing else has a price then. */
function chargeUnits(metered: Metered, reported: Usage): Charge {
  const units = Math.max(reported.units ?? 0, usualUnitsOf(metered.quote.request));
  return chargeUsage(metered, "estimated", { ...reported, units });
}

/** Returns the prompt text, or `undefined` when the worker that kept the body has died. */
async function promptOf(body: Body): Promise<string | undefined> {
  try {
    return await body.promptText();
  } catch {
    return undefined;
  }
}

/** Whether the input was cut to classes so cheap that a count of the prompt may cost more. */
function mayUndercharge({ meter, quote }: Metered, reported: Usage): boolean {
  const { candidate } = meter;
  const excess = meter.excess();
  if (!candidate || !excess || inputTokensOf(excess.reported) <= excess.bound.inputTokens) return false;
  const input = { ...reported, outputTokens: 0 };
  const counted = { ...NO_USAGE, inputTokens: quote.inputTokens };
  const { servedTier: served } = meter;
  const ofInput = costOf(input, priceOf(quote, candidate, input, served));
  return ofInput < costOf(counted, priceOf(quote, candidate, counted, served));
}

function chargeUsage({ meter, quote }: Metered, source: ChargeSource, counted: Usage): Charge {
  if (!meter.candidate) return NOTHING;
  // An estimate may have less output than the report that its other parts come from.
  const usage = counted.audio || counted.image ? fitModalities(counted) : counted;
  const { price, cost, tier, isDoubted } = pricesOf(quote, meter.candidate, usage, meter.servedTier);
  const amount = costOf(usage, price);
  // The cost of a tool is unknown where only its price is written.
  const isCostKnown = cost !== undefined && (!usage.calls || hasFees(usage.calls, cost.tools));
  const upstreamCost = isCostKnown ? costOf(usage, cost) : undefined;
  return {
    amount,
    source,
    usage: usage.unitKind ? withoutKind(usage) : usage,
    price,
    tier,
    isTierDoubted: isDoubted,
    upstreamCost: cost === price ? amount : upstreamCost,
  };
}

/** The kind of an image is part of its price on the receipt. */
function withoutKind({ unitKind: _, ...counted }: Usage): Usage {
  return counted;
}
