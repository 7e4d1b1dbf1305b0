import { useQuery } from "@tanstack/react-query";
import { getRouteApi, Link } from "@tanstack/react-router";
import { formatMs, readUsd } from "../../format.ts";
import { Badge } from "../../parts/badge.tsx";
import { CodeBlock } from "../../parts/code-block.tsx";
import { Copy } from "../../parts/copy.tsx";
import { Money } from "../../parts/money.tsx";
import { PageHeader } from "../../parts/page-header.tsx";
import { Panel } from "../../parts/panel.tsx";
import { Skeleton } from "../../parts/skeleton.tsx";
import { Stat, Stats } from "../../parts/stat.tsx";
import { Time } from "../../parts/time.tsx";
import { outcomeOf } from "../requests/outcomes.ts";
import { Arithmetic } from "./arithmetic.tsx";
import { MissingReceipt } from "./missing-receipt.tsx";
import { type ReceiptData, receiptQuery } from "./queries.ts";
import { writeQuestion } from "./question.ts";
import styles from "./receipt.module.css";
import { Refund } from "./refund.tsx";
import { Story } from "./story.tsx";

const route = getRouteApi("/shell/accounts/$account/requests/$request");

/** What one request did and cost. */
export function ReceiptPage() {
  const { account, request } = route.useParams();
  const { data, error, refetch } = useQuery(receiptQuery(account, request));
  return (
    <div className={styles.page}>
      <PageHeader
        title="Receipt"
        badges={data && <Badge tone={outcomeOf(data).tone}>{outcomeOf(data).text}</Badge>}
        note={
          <span className={styles.id}>
            <code>{request}</code>
            <Copy text={request} label="Copy the request id" />
          </span>
        }
        back={{ to: "/accounts/$account/requests", params: { account }, text: "Requests" }}
      >
        {data && <Actions account={account} receipt={data} />}
      </PageHeader>
      {error && !data && (
        <MissingReceipt account={account} request={request} error={error} onRetry={() => void refetch()} />
      )}
      {!error && !data && <Skeleton shape="block" />}
      {data && <Found account={account} receipt={data} />}
    </div>
  );
}

function Actions({ account, receipt }: { readonly account: string; readonly receipt: ReceiptData }) {
  return (
    <>
      <Copy text={writeQuestion(account, receipt)} label="Copy a question to the operator" hasText />
      <Copy text={JSON.stringify(receipt, undefined, 2)} label="Copy as JSON" hasText />
      <Refund account={account} receipt={receipt} />
    </>
  );
}

function Found({ account, receipt }: { readonly account: string; readonly receipt: ReceiptData }) {
  const { charged_usd, granted_usd, first_output_ms, total_ms, metadata, outcome_text } = receipt;
  return (
    <>
      <Stats label="The request in figures">
        <Stat name="Charged" value={<Money usd={charged_usd} isExact />} note={outcome_text} />
        <Stat name="Held before" value={<Money usd={granted_usd} isExact />} note={describeHold(receipt)} />
        <Stat name="First output" value={formatMs(first_output_ms)} />
        <Stat name="In total" value={formatMs(total_ms)} />
      </Stats>
      <Arithmetic receipt={receipt} />
      <div className={styles.columns}>
        <Story receipt={receipt} />
        <Facts account={account} receipt={receipt} />
      </div>
      {metadata && (
        <Panel title="Metadata" note="As the client sent it.">
          <CodeBlock label="metadata" code={JSON.stringify(metadata, undefined, 2)} isWrapped />
        </Panel>
      )}
    </>
  );
}

/** A provider may count more tokens than a request announces: then the charge is above the hold. */
function describeHold({ charged_usd, granted_usd }: ReceiptData): string {
  const [charged, granted] = [readUsd(charged_usd), readUsd(granted_usd)];
  if (charged > granted) return "Exceeded: more tokens were counted than it allowed for";
  if (charged === granted && granted > 0n) return "The most it could cost. All of it was charged";
  return "The most it could cost";
}

/** Outcomes of an answer that came to its end. Of all others the upstream is the last that was tried. */
const ANSWERED = ["ok", "empty_completion"];

function Facts({ account, receipt }: { readonly account: string; readonly receipt: ReceiptData }) {
  const { at, key_id, key_name, model, surface, upstream, upstream_model } = receipt;
  return (
    <Panel title="Request">
      <dl className={styles.facts}>
        <dt>Time</dt>
        <dd>
          <Time at={at} as="second" />
        </dd>
        <dt>Key</dt>
        <dd>
          <Link to="/accounts/$account/keys/$key" params={{ account, key: key_id }}>
            {key_name ?? key_id}
          </Link>
        </dd>
        <dt>Model</dt>
        <dd>{model}</dd>
        <dt>{ANSWERED.includes(receipt.outcome ?? "") ? "Answered by" : "Sent to"}</dt>
        <dd>{upstream ? `${upstream} · ${upstream_model ?? model}` : "no upstream"}</dd>
        <dt>API</dt>
        <dd>{surface}</dd>
      </dl>
    </Panel>
  );
}
