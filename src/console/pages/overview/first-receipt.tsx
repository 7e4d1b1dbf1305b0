import { Link } from "@tanstack/react-router";
import { useRef } from "react";
import { formatCount, formatMs, localise, plural, readUsd } from "../../format.ts";
import { OutcomeBadge } from "../../parts/badge.tsx";
import { classes } from "../../parts/classes.ts";
import { Money } from "../../parts/money.tsx";
import type { Latest } from "../../queries/overview.ts";
import styles from "./first-steps.module.css";

type Request = Latest["items"][number];

interface FirstReceiptProps {
  readonly account: string;
  /** The first request; `undefined` before it. */
  readonly first: Request | undefined;
}

/** The receipt of the first request. Announces its state, and animates a receipt that arrives on the open page. */
export function FirstReceipt({ account, first }: FirstReceiptProps) {
  const wasWaiting = useRef(!first || first.state === "held");
  return (
    <>
      <p className={styles.quiet} role="status">
        {describe(first)}
      </p>
      {first && first.state !== "held" && (
        <div className={classes(styles.receipt, wasWaiting.current && styles.drawn)}>
          <dl>
            <Line name="Model">{first.model}</Line>
            <Line name="Tokens">
              {formatCount(first.input_tokens ?? 0)} in, {formatCount(first.output_tokens ?? 0)} out
            </Line>
            <Line name="Time">{formatMs(first.total_ms)}</Line>
            <Line name="Outcome">
              <OutcomeBadge state={first.state} outcome={first.outcome} />
            </Line>
            <Line name="Charge">
              <strong>
                <Money usd={first.charged_usd} isExact />
              </strong>
            </Line>
          </dl>
          <Link to="/accounts/$account/requests/$request" params={{ account, request: first.id }}>
            <Money usd={first.charged_usd} isExact />: see its receipt
          </Link>
        </div>
      )}
    </>
  );
}

function describe(first: Request | undefined): string {
  if (!first) return "Waiting for it…";
  if (first.state === "held") return `${first.model} is answering.`;
  if (first.outcome !== "ok") return "It ended without a whole answer. The receipt tells why.";
  const tokens = plural((first.input_tokens ?? 0) + (first.output_tokens ?? 0), "token");
  const cost = readUsd(first.charged_usd) === 0n ? "free" : localise(`for $${first.charged_usd}`);
  return `Well done: ${first.model} has answered, ${tokens} ${cost}.`;
}

function Line({ name, children }: { readonly name: string; readonly children: React.ReactNode }) {
  return (
    <div>
      <dt>{name}</dt>
      <dd>{children}</dd>
    </div>
  );
}
