import type { Tone } from "./parts/badge.tsx";

/** How a request ended, in one or two words. */
export interface OutcomeView {
  readonly text: string;
  readonly tone: Tone;
}

const NAMES: Readonly<Record<string, OutcomeView>> = {
  ok: { text: "ok", tone: "good" },
  client_closed: { text: "client left", tone: "warn" },
  upstream_unavailable: { text: "unavailable", tone: "bad" },
  upstream_timeout: { text: "timed out", tone: "bad" },
  empty_completion: { text: "empty answer", tone: "warn" },
};

/** An outcome as recorded: `ok`, `client_closed`, or an error code of the contract. */
export function viewOutcome(outcome: string): OutcomeView {
  return NAMES[outcome] ?? { text: outcome.replaceAll("_", " "), tone: "bad" };
}

/** The state of a request in a list. */
export function outcomeOf({
  state,
  outcome,
}: {
  readonly state: string;
  readonly outcome: string | null;
}): OutcomeView {
  if (state === "held") return { text: "running", tone: "info" };
  if (outcome === null) return { text: state, tone: "neutral" };
  return viewOutcome(outcome);
}
