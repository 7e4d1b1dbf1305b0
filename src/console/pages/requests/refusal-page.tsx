import { useQuery } from "@tanstack/react-query";
import { getRouteApi, Link } from "@tanstack/react-router";
import { ApiError } from "../../api.ts";
import { localise } from "../../format.ts";
import { Badge } from "../../parts/badge.tsx";
import { ButtonLink } from "../../parts/button.tsx";
import { CopiedId } from "../../parts/code-block.tsx";
import { type Asked, Empty, ErrorPanel, Skeleton } from "../../parts/loaded.tsx";
import { Amount, Money } from "../../parts/money.tsx";
import { PageHeader } from "../../parts/page-header.tsx";
import { Panel } from "../../parts/panel.tsx";
import { Stat, Stats } from "../../parts/stat.tsx";
import { Time } from "../../parts/time.tsx";
import { type Refusal, receiptQuery, refusalQuery } from "../../queries/requests.ts";
import { useMay } from "../../session.ts";
import styles from "./refusal.module.css";
import { RaiseLimit, RefusingLimit } from "./refusing-limit.tsx";

const route = getRouteApi("/shell/accounts/$account/refusals/$request");

/** Why one request was refused: the rule, what it needed, what there was, and what cures it. */
export function RefusalPage() {
  const { account, request } = route.useParams();
  const query = useQuery(refusalQuery(account, request));
  const { data } = query;
  return (
    <div className={styles.page}>
      <PageHeader
        title="Why was this refused?"
        badges={data && <Badge tone="bad">{data.code.replaceAll("_", " ")}</Badge>}
        note={<CopiedId id={request} label="Copy the request id" />}
        back={{ to: "/accounts/$account/refusals", params: { account }, text: "Refusals" }}
      />
      {query.error && !data && <Unknown account={account} request={request} query={query} />}
      {!query.error && !data && <Skeleton shape="block" />}
      {data && <Answer account={account} refusal={data} />}
    </div>
  );
}

function Answer({ account, refusal }: { readonly account: string; readonly refusal: Refusal }) {
  const { text, rule, at, model, key_id, key_name, needed, had, exact } = refusal;
  return (
    <>
      <Panel title={localise(text)} note={rule}>
        <Cure account={account} refusal={refusal} />
      </Panel>
      {exact || (
        <p className={styles.hint}>
          Only the last requests of each minute are stored: these numbers are those of another one, refused
          for this reason in this minute.
        </p>
      )}
      <Stats label="The refusal in figures">
        {needed && <Stat name="Needed" value={<Amount quantity={needed} />} />}
        {had && <Stat name="Available at that moment" value={<Amount quantity={had} />} />}
        <Stat name="Time" value={<Time at={at} as="second" />} />
        <Stat
          name="Key"
          value={
            <Link to="/accounts/$account/keys/$key" params={{ account, key: key_id }}>
              {key_name ?? key_id}
            </Link>
          }
          note={model ? `asked for ${model}` : undefined}
        />
      </Stats>
      {refusal.spending_limit && <RefusingLimit account={account} limit={refusal.spending_limit} />}
      <Holds account={account} refusal={refusal} />
    </>
  );
}

/** What held the rest of the money, while the requests still run or by their receipts. */
function Holds({ account, refusal: { held_by } }: { readonly account: string; readonly refusal: Refusal }) {
  if (held_by.length === 0) return null;
  return (
    <Panel title="What held the rest" note="Requests that ran at that moment, and the money they held.">
      <ul className={styles.holds}>
        {held_by.map(({ request_id, granted_usd }) => (
          <li key={request_id}>
            <Link to="/accounts/$account/requests/$request" params={{ account, request: request_id }}>
              {request_id}
            </Link>
            <Money usd={granted_usd} isExact />
          </li>
        ))}
      </ul>
    </Panel>
  );
}

/** The one thing to do next. */
function Cure({ account, refusal }: { readonly account: string; readonly refusal: Refusal }) {
  const { cure, cure_text, retry_after_s, spending_limit: limit } = refusal;
  const mayTopUp = useMay("wallet.write");
  return (
    <div className={styles.cure}>
      <p>
        {localise(cure_text)}
        {retry_after_s !== null && ` It had to wait ${retry_after_s} s.`}
      </p>
      {(cure === "raise_limit" || limit !== null) && <RaiseLimit account={account} refusal={refusal} />}
      {cure === "top_up" && mayTopUp && (
        <ButtonLink
          look="primary"
          to="/accounts/$account/wallet"
          params={{ account }}
          search={{ topup: "1" }}
        >
          Top up
        </ButtonLink>
      )}
    </div>
  );
}

interface UnknownProps {
  readonly account: string;
  readonly request: string;
  readonly query: Asked<unknown>;
}

/** An id without a refusal: of a request that was let through, or of none that is kept. */
function Unknown({ account, request, query }: UnknownProps) {
  const isUnknown = query.error instanceof ApiError && query.error.status === 404;
  const { data, isPending } = useQuery({ ...receiptQuery(account, request), enabled: isUnknown });
  if (!isUnknown) return <ErrorPanel error={query.error} onRetry={() => void query.refetch()} />;
  if (isPending) return <Skeleton shape="block" />;
  return (
    <Panel>
      {data ? (
        <Empty
          icon="check"
          title="This request was not refused"
          actions={
            <ButtonLink
              look="primary"
              to="/accounts/$account/requests/$request"
              params={{ account, request }}
              replace
            >
              See its receipt
            </ButtonLink>
          }
        >
          {data.outcome_text}
        </Empty>
      ) : (
        <Empty icon="search" title="No refusal of this account has this id">
          Refusals are kept for 7 days. A request without a valid key belongs to no account and is not kept.
        </Empty>
      )}
    </Panel>
  );
}
