import type { ReactNode } from "react";
import { formatMs, readUsd } from "../../format.ts";
import { Badge } from "../../parts/badge.tsx";
import { Money } from "../../parts/money.tsx";
import { Panel } from "../../parts/panel.tsx";
import { Time } from "../../parts/time.tsx";
import type { ReceiptData } from "../../queries/requests.ts";
import styles from "./receipt.module.css";

/** Why an upstream and its key were taken. */
const REASONS: Readonly<Record<string, string>> = {
  priority: "first by priority",
  weight: "drawn by weight",
  cheapest: "the cheapest",
  fastest: "the fastest",
  least_busy: "the least busy",
  affinity: "where this prompt's beginning may be cached",
  failover: "a preferred one could not take it",
};

/** What a skipped upstream lacks for a request. */
const LACKS: Readonly<Record<string, string>> = {
  cannot_tools: "its model has no tools",
  cannot_images: "its model reads no images",
  cannot_documents: "its model reads no documents",
  cannot_audio: "its model hears no audio",
  cannot_reasoning: "its model does not reason",
  cannot_structured_output: "its model follows no JSON schema",
  cannot_context_window: "the prompt and its answer do not fit its context window",
  cannot_output: "its output limit is below the reasoning that was asked for",
};

/** What happened to the money, in order: hold, attempts, settlement. */
export function Story({ receipt }: { readonly receipt: ReceiptData }) {
  const { at, granted_usd, attempts } = receipt;
  return (
    <Panel title="What happened">
      <ol className={styles.story}>
        <Step title="Money was held" when={<Time at={at} as="second" />}>
          <Money usd={granted_usd} isExact /> of the wallet, before any upstream was called.
        </Step>
        {attempts.filter(isSkipped).map(({ upstream, reason }) => (
          <Step key={`${upstream} ${reason}`} title={`${upstream} was not asked`} when="–">
            {LACKS[reason ?? ""] ?? reason}
          </Step>
        ))}
        {attempts.filter(isCalled).map(({ upstream, key, reason, status, ms }, index) => (
          <Step
            // biome-ignore lint/suspicious/noArrayIndexKey: attempts have no id and never change their order.
            key={index}
            title={`${index === 0 ? "Sent to" : "Then sent to"} ${upstream}${key === null ? "" : `, key ${key}`}`}
            when={formatMs(ms)}
          >
            <Badge tone={status >= 200 && status < 300 ? "good" : "bad"}>
              {status === 0 ? "no answer" : `answered ${status}`}
            </Badge>
            {reason !== null && ` ${REASONS[reason] ?? reason}`}
          </Step>
        ))}
        <End receipt={receipt} />
        {readUsd(receipt.refunded_usd) > 0n && (
          <Step title="Refunded" when="later">
            <Money usd={receipt.refunded_usd} isExact /> returned to the wallet.
          </Step>
        )}
      </ol>
    </Panel>
  );
}

type AttemptData = ReceiptData["attempts"][number];

/** Whether a line of a receipt is of an upstream that was skipped instead of called. */
function isSkipped({ reason }: AttemptData): boolean {
  return reason?.startsWith("cannot_") ?? false;
}

export function isCalled(attempt: AttemptData): boolean {
  return !isSkipped(attempt);
}

function End({ receipt }: { readonly receipt: ReceiptData }) {
  const { state, resolved_at, charged_usd, released_usd, late, outcome_text } = receipt;
  if (state === "held") {
    return (
      <Step title="Still running" when="now">
        The hold is settled when the answer ends.
      </Step>
    );
  }
  const title = { settled: "Settled", released: "Released", expired: "Expired" }[state] ?? state;
  return (
    <Step
      title={late ? `${title}, after the hold had expired` : title}
      when={<Time at={resolved_at} as="second" />}
    >
      {outcome_text} <Money usd={charged_usd} isExact /> charged, <Money usd={released_usd} isExact /> given
      back.
    </Step>
  );
}

interface StepProps {
  readonly title: string;
  readonly when: ReactNode;
  readonly children: ReactNode;
}

function Step({ title, when, children }: StepProps) {
  return (
    <li className={styles.step}>
      <div className={styles.stepHead}>
        <h3>{title}</h3>
        <span className={styles.when}>{when}</span>
      </div>
      <p>{children}</p>
    </li>
  );
}
