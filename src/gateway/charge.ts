import type { Body } from "../bodies/body.ts";
import { costOf } from "../domain/model.ts";
import type { Nanos } from "../domain/money.ts";
import { inputTokensOf, NO_USAGE, type Usage } from "../domain/usage.ts";
import type { ChargeSource } from "../ledger/ledger.ts";
import type { TokenCounter } from "../tokens/count-tokens.ts";
import type { OpenHold } from "./hold.ts";
import type { Outcome } from "./outcome.ts";
import { guessInput, outputTokensMaxOf } from "./quote.ts";

/** What a request is charged, and why. */
export interface Charge {
  readonly amount: Nanos;
  readonly source: ChargeSource;
  readonly usage: Usage | undefined;
}

const NOTHING: Charge = { amount: 0n, source: "none", usage: undefined };

/**
 * What each way of ending costs. Finished: as reported, else as counted here. Empty: as reported, else
 * nothing. Broken off by the client after output began, or by the upstream after the client was shown some:
 * input and output so far. Else nothing.
 */
export async function chargeFor(outcome: Outcome, hold: OpenHold, tokens: TokenCounter): Promise<Charge> {
  const { meter } = hold;
  const reported = meter.reported();
  switch (outcome.kind) {
    case "finished":
    case "unsayable":
      return reported ? charge(hold, "reported", reported) : estimate(hold, tokens);
    case "empty":
      return reported ? charge(hold, "reported", reported) : NOTHING;
    case "failed":
      return meter.isShown ? estimate(hold, tokens) : NOTHING;
    case "hung_up":
      // Reported input is paid even before output: else hanging up early would make long prompts free.
      return meter.hasOutput || reported ? estimate(hold, tokens) : NOTHING;
  }
}

/** Input as reported, else counted; output the larger of report and count. Never more than was quoted. */
async function estimate(hold: OpenHold, tokens: TokenCounter): Promise<Charge> {
  const { meter, quote, body } = hold;
  const reported = meter.reported();
  const hasInput = reported !== undefined && inputTokensOf(reported) > 0;
  const prompt = hasInput ? "" : await promptOf(body);
  const counted = await tokens.count({ input: prompt ?? "", output: meter.generated() });
  const inputTokens = prompt === undefined ? guessInput(quote) : counted.inputTokens;
  const input = inputTokens + (quote.request.input.tokenIds ?? 0);
  const output = Math.max(reported?.outputTokens ?? 0, counted.outputTokens);
  return charge(hold, "estimated", {
    ...(hasInput ? reported : { ...NO_USAGE, inputTokens: Math.min(input, quote.inputTokens) }),
    outputTokens: Math.min(output, outputTokensMaxOf(quote)),
  });
}

/** The text of a prompt; `undefined` when the worker that had its bytes has died: what was answered is charged all the same. */
async function promptOf(body: Body): Promise<string | undefined> {
  try {
    return await body.promptText();
  } catch {
    return undefined;
  }
}

function charge({ meter }: OpenHold, source: ChargeSource, usage: Usage): Charge {
  return meter.route ? { amount: costOf(usage, meter.route.price), source, usage } : NOTHING;
}
