import { useQuery } from "@tanstack/react-query";
import { getRouteApi, Link } from "@tanstack/react-router";
import { ApiError } from "../../api.ts";
import { formatExact, formatMs, localise, readUsd } from "../../format.ts";
import { OutcomeBadge } from "../../parts/badge.tsx";
import { ButtonLink } from "../../parts/button.tsx";
import { CodeBlock, CopiedId, Copy } from "../../parts/code-block.tsx";
import { type Asked, Empty, ErrorPanel, Skeleton } from "../../parts/loaded.tsx";
import { Money } from "../../parts/money.tsx";
import { PageHeader } from "../../parts/page-header.tsx";
import { Panel } from "../../parts/panel.tsx";
import { Stat, Stats } from "../../parts/stat.tsx";
import { Time } from "../../parts/time.tsx";
import { type ReceiptData, receiptQuery, refusalQuery } from "../../queries/requests.ts";
import { formatUtc } from "../../times.ts";
import { Arithmetic } from "./arithmetic.tsx";
import { Bodies } from "./bodies.tsx";
import styles from "./receipt.module.css";
import { Refund } from "./refund.tsx";
import { ScopeFacts } from "./scopes.tsx";
import { isCalled, Story } from "./story.tsx";

const route = getRouteApi("/shell/accounts/$account/requests/$request");

/** What one request did and cost. */
export function ReceiptPage() {
  const { account, request } = route.useParams();
  const query = useQuery(receiptQuery(account, request));
  const { data } = query;
  return (
    <div className={styles.page}>
      <PageHeader
        title="Receipt"
        badges={data && <OutcomeBadge state={data.state} outcome={data.outcome} />}
        note={<CopiedId id={request} label="Copy the request id" />}
        back={{ to: "/accounts/$account/requests", params: { account }, text: "Requests" }}
      >
        {data && <Actions account={account} receipt={data} />}
      </PageHeader>
      {query.error && !data && <MissingReceipt account={account} request={request} query={query} />}
      {!query.error && !data && <Skeleton shape="block" />}
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
      <Bodies account={account} request={receipt.id} />
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
  const { at, key_id, key_name, model, surface, tier, upstream, upstream_model } = receipt;
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
        <ScopeFacts account={account} scopes={receipt.scopes} />
        <dt>Model</dt>
        <dd>{model}</dd>
        <dt>{ANSWERED.includes(receipt.outcome ?? "") ? "Answered by" : "Sent to"}</dt>
        <dd>{upstream ? `${upstream} · ${upstream_model ?? model}` : "no upstream"}</dd>
        {tier !== null && (
          <>
            <dt>Service tier</dt>
            <dd>{tier}</dd>
          </>
        )}
        <dt>API</dt>
        <dd>{surface}</dd>
      </dl>
    </Panel>
  );
}

interface MissingReceiptProps {
  readonly account: string;
  readonly request: string;
  readonly query: Asked<unknown>;
}

/** Stands for a receipt that was not read. A refused request took no hold: it has a reason instead. */
function MissingReceipt({ account, request, query }: MissingReceiptProps) {
  const isUnknown = query.error instanceof ApiError && query.error.status === 404;
  const { data, isPending } = useQuery({ ...refusalQuery(account, request), enabled: isUnknown });
  if (!isUnknown) return <ErrorPanel error={query.error} onRetry={() => void query.refetch()} />;
  if (isPending) return <Skeleton shape="block" />;
  return (
    <Panel>
      {data ? (
        <Empty
          icon="refusal"
          title="This request was refused, and cost nothing"
          actions={
            <ButtonLink
              look="primary"
              to="/accounts/$account/refusals/$request"
              params={{ account, request }}
              replace
            >
              See why
            </ButtonLink>
          }
        >
          {localise(data.text)}
        </Empty>
      ) : (
        <Empty
          icon="search"
          title="No receipt of this account has this id"
          actions={
            <ButtonLink to="/accounts/$account/requests" params={{ account }}>
              All requests
            </ButtonLink>
          }
        >
          The id may be mistyped, or of another account. The receipt of an old request may no longer be kept:
          its cost stays in the wallet and in usage. A request that was refused more than 7 days ago is not
          kept either.
        </Empty>
      )}
    </Panel>
  );
}

/** What an operator needs to look into a request, as a text to send. Holds no message and no secret. */
function writeQuestion(account: string, receipt: ReceiptData): string {
  const {
    id,
    at,
    model,
    upstream,
    key_name,
    key_id,
    state,
    charged_usd,
    refunded_usd,
    outcome_text,
    attempts,
  } = receipt;
  const tried = attempts
    .filter(isCalled)
    .map(({ upstream: name, status }) => `${name} ${status === 0 ? "no answer" : status}`);
  const refunded = readUsd(refunded_usd) > 0n ? `, ${formatExact(readUsd(refunded_usd))} refunded` : "";
  return [
    "Please look into this request:",
    `Request: ${id}`,
    `Account: ${account}`,
    `Time: ${formatUtc(at)}`,
    `Key: ${key_name ?? key_id}`,
    `Model: ${model}${upstream ? ` by ${upstream}` : ""}`,
    `State: ${state}. ${outcome_text}`,
    `Charged: ${formatExact(readUsd(charged_usd))}${refunded}`,
    `Attempts: ${tried.join(", ") || "none"}`,
    "What I expected instead: ",
  ].join("\n");
}
