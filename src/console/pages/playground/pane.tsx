import { Link } from "@tanstack/react-router";
import { useEffect, useRef } from "react";
import { CodeBlock } from "../../parts/code-block.tsx";
import { Empty } from "../../parts/empty.tsx";
import type { Chat } from "./events.ts";
import { MoneyBar } from "./money-bar.tsx";
import styles from "./playground.module.css";

interface PaneProps {
  readonly account: string;
  readonly model: string;
  readonly chat: Chat;
  /** The same request for a shell. */
  readonly curl: string;
}

/** One model's conversation, with its money and its raw events. */
export function Pane({ account, model, chat, curl }: PaneProps) {
  const { messages, reasoning, isRunning, problem, requestId, events } = chat;
  const end = useRef<HTMLDivElement>(null);
  const last = messages.at(-1)?.content;
  // biome-ignore lint/correctness/useExhaustiveDependencies: each piece of text moves the end into view.
  useEffect(() => {
    // Not returned: newer browsers return a promise, which is no clean-up.
    end.current?.scrollIntoView({ block: "nearest" });
  }, [last]);
  return (
    <section className={styles.pane} aria-label={`Conversation with ${model}`}>
      <header className={styles.paneHead}>
        <h2>{model}</h2>
        {requestId && (
          <Link to="/accounts/$account/requests/$request" params={{ account, request: requestId }}>
            Receipt
          </Link>
        )}
      </header>
      <div className={styles.messages} tabIndex={0} role="log" aria-label="Messages">
        {messages.length === 0 && (
          <Empty icon="playground" title="Ask something">
            The answer streams here, with its cost as it grows.
          </Empty>
        )}
        {messages.map(({ role, content }, index) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: messages have no id and are only appended.
          <div key={index} className={styles[role]}>
            <small>{role === "user" ? "You" : model}</small>
            <p>{content}</p>
          </div>
        ))}
        {reasoning && (
          <details className={styles.reasoning}>
            <summary>Reasoning</summary>
            <p>{reasoning}</p>
          </details>
        )}
        {isRunning && messages.at(-1)?.role === "user" && (
          <p className={styles.waiting}>Waiting for the first output…</p>
        )}
        {problem && (
          <p className={styles.problem} role="alert">
            {problem}
          </p>
        )}
        <div ref={end} />
      </div>
      <MoneyBar chat={chat} />
      <details className={styles.raw}>
        <summary>The same request with curl</summary>
        <CodeBlock label="curl command" code={curl} isWrapped />
      </details>
      <details className={styles.raw}>
        <summary>Raw events ({events.length})</summary>
        <CodeBlock
          label="events"
          code={events.map(({ name, data }) => `${name} ${JSON.stringify(data)}`).join("\n")}
          isWrapped
        />
      </details>
    </section>
  );
}
