import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import type { ReactNode } from "react";
import { readUsd } from "../../format.ts";
import { Button, ButtonLink } from "../../parts/button.tsx";
import { classes } from "../../parts/classes.ts";
import { CodeBlock } from "../../parts/code-block.tsx";
import { Icon } from "../../parts/icons.tsx";
import { Money } from "../../parts/money.tsx";
import { Panel } from "../../parts/panel.tsx";
import { keyNamesQuery, latestQuery, modelsQuery, walletQuery } from "../../queries/overview.ts";
import { setupQuery, useMay } from "../../session.ts";
import styles from "./overview.module.css";

interface StepProps {
  readonly number: number;
  readonly title: string;
  readonly isDone: boolean;
  readonly children?: ReactNode;
}

interface FirstStepsProps {
  readonly account: string;
  /** Offered once every step is done. */
  readonly onHide: (() => void) | undefined;
}

/** The way to a first receipt. Each step turns green by itself when it has happened. */
export function FirstSteps({ account, onHide }: FirstStepsProps) {
  const { data: setup } = useQuery(setupQuery);
  const { data: keys } = useQuery(keyNamesQuery(account));
  const { data: latest } = useQuery(latestQuery(account));
  const { data: models } = useQuery(modelsQuery(account));
  const { data: wallet } = useQuery(walletQuery(account));
  const mayCreate = useMay("keys.create");
  const hasKey = keys?.items.some(({ state }) => state === "active") ?? false;
  const first = latest?.items[0];
  const isDone = hasKey && first !== undefined && first.state !== "held";
  return (
    <Panel
      title={isDone ? "The first request is made" : "Make the first request"}
      note={
        isDone
          ? "All below is filled by requests."
          : "This page follows along: the steps turn green by themselves."
      }
      actions={onHide && isDone && <Button onClick={onHide}>Hide</Button>}
    >
      <ol className={styles.steps}>
        <Step number={1} title={hasKey ? "There is a key" : "Create a key"} isDone={hasKey}>
          {hasKey && (
            <p className={styles.quiet}>Its secret was shown once. Create another one if it is lost.</p>
          )}
          {mayCreate && (
            <ButtonLink
              icon="plus"
              to="/accounts/$account/keys"
              params={{ account }}
              search={{ create: "1" }}
            >
              Create a key
            </ButtonLink>
          )}
        </Step>
        <Step number={2} title="Send a request with it" isDone={first !== undefined}>
          <div>
            <CodeBlock
              label="curl command"
              code={printCurl(setup?.public_url ?? location.origin, models?.items[0]?.id ?? "demo")}
              isWrapped
            />
          </div>
          {wallet && readUsd(wallet.available_usd) <= 0n && (
            <p className={styles.quiet}>
              Nothing is available yet: a request that costs money is refused until the wallet is topped up.
            </p>
          )}
        </Step>
        <Step number={3} title="See what it cost" isDone={first !== undefined && first.state !== "held"}>
          {first && first.state !== "held" ? (
            <Link to="/accounts/$account/requests/$request" params={{ account, request: first.id }}>
              <Money usd={first.charged_usd} isExact />: see its receipt
            </Link>
          ) : (
            <p className={styles.quiet}>Waiting for it…</p>
          )}
        </Step>
      </ol>
    </Panel>
  );
}

function Step({ number, title, isDone, children }: StepProps) {
  return (
    <li className={styles.step}>
      <span className={classes(styles.number, isDone && styles.done)}>
        {isDone ? <Icon name="check" /> : number}
      </span>
      <div className={styles.content}>
        <h3>
          {title}
          {isDone && <span hidden> (done)</span>}
        </h3>
        {children}
      </div>
    </li>
  );
}

function printCurl(url: string, model: string): string {
  const body = JSON.stringify({ model, messages: [{ role: "user", content: "Hello, Tollgate!" }] });
  return `curl ${url}/v1/chat/completions \\
  -H "authorization: Bearer $TOLLGATE_KEY" \\
  -H "content-type: application/json" \\
  -d '${body}'`;
}
