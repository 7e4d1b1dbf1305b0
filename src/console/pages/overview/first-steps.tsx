import { useQuery } from "@tanstack/react-query";
import { readUsd } from "../../format.ts";
import { Button, ButtonLink } from "../../parts/button.tsx";
import { CodeBlock } from "../../parts/code-block.tsx";
import { Panel } from "../../parts/panel.tsx";
import { isChat, keyNamesQuery, latestQuery, modelsQuery, walletQuery } from "../../queries/overview.ts";
import { setupQuery, useMay } from "../../session.ts";
import { FirstReceipt } from "./first-receipt.tsx";
import styles from "./first-steps.module.css";
import { NextSteps, Step } from "./next-steps.tsx";

interface FirstStepsProps {
  readonly account: string;
  /** Offered once every step is done. */
  readonly onHide: (() => void) | undefined;
}

/** The way to a first receipt, and on from there. Each step turns green by itself when it has happened. */
export function FirstSteps({ account, onHide }: FirstStepsProps) {
  const { data: setup } = useQuery(setupQuery);
  const { data: keys } = useQuery(keyNamesQuery(account));
  const { data: latest } = useQuery(latestQuery(account));
  const { data: models } = useQuery(modelsQuery(account));
  const { data: wallet } = useQuery(walletQuery(account));
  const chat = models?.items.find(isChat);
  const hasKey = keys?.items.some(({ state }) => state === "active") ?? false;
  const first = latest?.items.at(-1);
  const hasEnded = first !== undefined && first.state !== "held";
  const isDone = hasKey && hasEnded;
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
          {hasKey ? (
            <p className={styles.quiet}>Its secret was shown once. Create another one if it is lost.</p>
          ) : null}
          <CreateKey account={account} />
        </Step>
        <Step
          number={2}
          title={first ? "A request has arrived" : "Send a request with it"}
          isDone={first !== undefined}
        >
          <div>
            <CodeBlock
              label="curl command"
              code={printCurl(setup?.public_url ?? location.origin, chat?.id ?? "demo")}
              isWrapped
            />
          </div>
          {!first && wallet && readUsd(wallet.available_usd) <= 0n && (
            <p className={styles.quiet}>
              Nothing is available yet: a request that costs money is refused until the wallet is topped up.
            </p>
          )}
        </Step>
        <Step number={3} title="See what it cost" isDone={hasEnded}>
          <FirstReceipt account={account} first={first} />
        </Step>
        {hasEnded && <NextSteps account={account} usedKeyId={first.key_id} />}
      </ol>
    </Panel>
  );
}

function CreateKey({ account }: { readonly account: string }) {
  if (!useMay("keys.create")) return null;
  return (
    <ButtonLink icon="plus" to="/accounts/$account/keys" params={{ account }} search={{ create: "1" }}>
      Create a key
    </ButtonLink>
  );
}

function printCurl(url: string, model: string): string {
  const body = JSON.stringify({ model, messages: [{ role: "user", content: "Hello, Tollgate!" }] });
  return `curl ${url}/v1/chat/completions \\
  -H "authorization: Bearer $TOLLGATE_KEY" \\
  -H "content-type: application/json" \\
  -d '${body}'`;
}
