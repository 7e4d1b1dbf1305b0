import { Link } from "@tanstack/react-router";
import { quoteForShell } from "../../../clients/shell.ts";
import { printUsd } from "../../../domain/money.ts";
import { formatCount, formatExact } from "../../format.ts";
import { Badge, type Tone } from "../../parts/badge.tsx";
import { CodeBlock } from "../../parts/code-block.tsx";
import { Money } from "../../parts/money.tsx";
import { Panel } from "../../parts/panel.tsx";
import { type Answer, releasedOf } from "./answer.ts";
import { Markdown } from "./markdown.tsx";
import { imagesOf, type Message, textOf } from "./messages.ts";
import styles from "./playground.module.css";
import { ToolCalls } from "./tool-calls.tsx";
import type { Chat, ChatRequest, ChatStep } from "./use-chat.ts";

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
          <One
            // biome-ignore lint/suspicious/noArrayIndexKey: steps are only ever added at the end.
            key={index}
            account={account}
            url={url}
            step={step}
            onResults={index === chat.steps.length - 1 && !chat.isRunning ? chat.goOn : undefined}
          />
        ))}
      </div>
    </Panel>
  );
}

interface OneProps {
  readonly account: string;
  readonly url: string;
  readonly step: ChatStep;
  /** Goes on from the calls of tools; absent before the last step. */
  readonly onResults: ((results: readonly string[]) => void) | undefined;
}

function One({ account, url, step: { request, added, answer }, onResults }: OneProps) {
  const { text, reasoning, calls, error, state } = answer;
  return (
    <article className={styles.step}>
      {added.map((message, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: what was sent never changes.
        <Question key={index} message={message} />
      ))}
      {reasoning && (
        <details className={styles.more}>
          <summary>Reasoning</summary>
          <p className={styles.reasoning}>{reasoning}</p>
        </details>
      )}
      {text && <Markdown text={text} />}
      <ToolCalls calls={calls} onResults={state === "done" ? onResults : undefined} />
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

function Question({ message }: { readonly message: Message }) {
  const images = imagesOf(message);
  return (
    <div className={styles.question}>
      {message.role === "tool" && <small>Result of a tool</small>}
      {images.length > 0 && (
        <span className={styles.choices}>
          {images.map((url, index) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: two equal images are two.
            <img key={index} className={styles.sent} src={url} alt={`Sent with the question, ${index + 1}`} />
          ))}
        </span>
      )}
      {textOf(message)}
    </div>
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

/** Prints a chat as a shell command, with the key's secret in TOLLGATE_KEY. */
function printChatCurl(url: string, { key: _, ...request }: ChatRequest): string {
  const body = JSON.stringify({ ...request, stream: true }, null, 2);
  return `curl -N ${url}/v1/chat/completions \\
  -H "authorization: Bearer $TOLLGATE_KEY" \\
  -H "content-type: application/json" \\
  -d ${quoteForShell(body)}`;
}

const WIDTH = 1000;

/** What is granted, spent and released, as it happens. */
function HoldBar({ answer }: { readonly answer: Answer }) {
  const { granted, spent } = answer;
  if (granted === undefined) return null;
  const released = releasedOf(answer);
  const share = granted === 0n ? 0 : Number((spent * BigInt(WIDTH)) / granted);
  const drawn = Math.min(share, WIDTH);
  const label = `Granted ${formatExact(granted)}, spent ${formatExact(spent)}${
    released === undefined ? "" : `, released ${formatExact(released)}`
  }.`;
  return (
    <div className={styles.hold}>
      <svg
        className={styles.track}
        viewBox={`0 0 ${WIDTH} 8`}
        preserveAspectRatio="none"
        role="img"
        aria-label={label}
      >
        <rect className={styles.granted} width={WIDTH} height="8" />
        {released !== undefined && (
          <rect className={styles.released} x={drawn} width={WIDTH - drawn} height="8" />
        )}
        <rect className={styles.spent} width={drawn} height="8" />
      </svg>
      <dl className={styles.terms}>
        <Term name="granted" className={styles.granted} usd={printUsd(granted)} />
        <Term name="spent" className={styles.spent} usd={printUsd(spent)} />
        <Term
          name="released"
          className={styles.released}
          usd={released === undefined ? undefined : printUsd(released)}
        />
      </dl>
    </div>
  );
}

interface TermProps {
  readonly name: string;
  readonly className: string | undefined;
  readonly usd: string | undefined;
}

function Term({ name, className, usd }: TermProps) {
  return (
    <div className={styles.term}>
      <dt>
        <svg viewBox="0 0 10 10" width="10" height="10" aria-hidden="true">
          <rect className={className} width="10" height="10" rx="2" />
        </svg>
        {name}
      </dt>
      <dd>
        <Money usd={usd} isExact />
      </dd>
    </div>
  );
}
