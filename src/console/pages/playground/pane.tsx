import { Link } from "@tanstack/react-router";
import { formatCount } from "../../format.ts";
import { Badge, type Tone } from "../../parts/badge.tsx";
import { CodeBlock } from "../../parts/code-block.tsx";
import { Panel } from "../../parts/panel.tsx";
import type { Answer } from "./answer.ts";
import { printChatCurl } from "./curl.ts";
import { HoldBar } from "./hold-bar.tsx";
import styles from "./playground.module.css";
import type { Chat, ChatStep } from "./use-chat.ts";

const STATES: Readonly<Record<Answer["state"], { readonly text: string; readonly tone: Tone }>> = {
  waiting: { text: "waiting", tone: "neutral" },
  streaming: { text: "streaming", tone: "info" },
  done: { text: "done", tone: "good" },
  failed: { text: "failed", tone: "bad" },
  stopped: { text: "stopped", tone: "warn" },
};

interface PaneProps {
  readonly account: string;
  readonly model: string;
  readonly url: string;
  readonly chat: Chat;
}

/** The conversation with one model, with the money of each answer. */
export function Pane({ account, model, url, chat }: PaneProps) {
  return (
    <Panel title={model}>
      {chat.steps.length === 0 && (
        <p className={styles.quiet}>The answer appears here, with what it holds, spends and releases.</p>
      )}
      <div className={styles.steps} aria-live="polite" aria-busy={chat.isRunning}>
        {chat.steps.map((step, index) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: steps are only ever added at the end.
          <One key={index} account={account} url={url} step={step} />
        ))}
      </div>
    </Panel>
  );
}

interface OneProps {
  readonly account: string;
  readonly url: string;
  readonly step: ChatStep;
}

function One({ account, url, step: { request, answer } }: OneProps) {
  const { text, reasoning, error, state } = answer;
  return (
    <article className={styles.step}>
      <p className={styles.question}>{request.messages.at(-1)?.content}</p>
      {reasoning && (
        <details className={styles.more}>
          <summary>Reasoning</summary>
          <p className={styles.reasoning}>{reasoning}</p>
        </details>
      )}
      {text && <p className={styles.answer}>{text}</p>}
      {error && (
        <p className={styles.failure} role="alert">
          {error}
        </p>
      )}
      <HoldBar answer={answer} />
      <div className={styles.foot}>
        <Badge tone={STATES[state].tone}>{STATES[state].text}</Badge>
        {answer.outputTokens > 0 && <span>{formatCount(answer.outputTokens)} output tokens</span>}
        <Outcome account={account} answer={answer} />
      </div>
      <details className={styles.more}>
        <summary>The same as curl</summary>
        <CodeBlock label="curl command" code={printChatCurl(url, request)} />
      </details>
      {answer.events.length > 0 && (
        <details className={styles.more}>
          <summary>Raw events ({formatCount(answer.events.length)})</summary>
          <CodeBlock
            label="events"
            code={answer.events.map(({ event, data }) => `event: ${event}\ndata: ${data}`).join("\n\n")}
            isWrapped
          />
        </details>
      )}
    </article>
  );
}

function Outcome({ account, answer }: { readonly account: string; readonly answer: Answer }) {
  const { requestId, granted, state } = answer;
  if (requestId === undefined || state === "streaming" || state === "waiting") return null;
  const params = { account, request: requestId };
  if (granted === undefined) {
    return (
      <Link to="/accounts/$account/refusals/$request" params={params}>
        Why was it refused?
      </Link>
    );
  }
  return (
    <Link to="/accounts/$account/requests/$request" params={params}>
      Receipt
    </Link>
  );
}
