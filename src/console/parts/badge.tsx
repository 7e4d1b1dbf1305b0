import type { ReactNode } from "react";
import styles from "./badge.module.css";
import { classes } from "./classes.ts";

export type Tone = "neutral" | "good" | "warn" | "bad" | "info" | "accent";

/** A state in one or two words. */
export function Badge({
  tone = "neutral",
  children,
}: {
  readonly tone?: Tone;
  readonly children: ReactNode;
}) {
  return <span className={classes(styles.badge, tone !== "neutral" && styles[tone])}>{children}</span>;
}

/** The state of a request in a list. */
export function OutcomeBadge({
  state,
  outcome,
}: {
  readonly state: string;
  readonly outcome: string | null;
}) {
  if (state === "held") return <Badge tone="info">running</Badge>;
  if (outcome === null) return <Badge>{state}</Badge>;
  const { text, tone } = viewOutcome(outcome);
  return <Badge tone={tone}>{text}</Badge>;
}

/** How a request ended, in one or two words. */
interface OutcomeView {
  readonly text: string;
  readonly tone: Tone;
}

const OUTCOMES: Readonly<Record<string, OutcomeView>> = {
  ok: { text: "ok", tone: "good" },
  client_closed: { text: "client left", tone: "warn" },
  upstream_unavailable: { text: "unavailable", tone: "bad" },
  upstream_timeout: { text: "timed out", tone: "bad" },
  empty_completion: { text: "empty answer", tone: "warn" },
};

/** An outcome as recorded: `ok`, `client_closed`, or an error code of the contract. */
export function viewOutcome(outcome: string): OutcomeView {
  return OUTCOMES[outcome] ?? { text: outcome.replaceAll("_", " "), tone: "bad" };
}
