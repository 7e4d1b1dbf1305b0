import { queryOptions, useQuery } from "@tanstack/react-query";
import { getRouteApi, Link } from "@tanstack/react-router";
import { api, call } from "../../api.ts";
import { formatCount } from "../../format.ts";
import { Badge } from "../../parts/badge.tsx";
import { ButtonLink } from "../../parts/button.tsx";
import { Copy } from "../../parts/copy.tsx";
import { ErrorPanel } from "../../parts/error-panel.tsx";
import { Money } from "../../parts/money.tsx";
import { PageHeader } from "../../parts/page-header.tsx";
import { Panel } from "../../parts/panel.tsx";
import { Skeleton } from "../../parts/skeleton.tsx";
import { Stat, Stats } from "../../parts/stat.tsx";
import { Time } from "../../parts/time.tsx";
import { useMay } from "../../session.ts";
import styles from "./refusal.module.css";

type Refusal = Awaited<ReturnType<typeof fetchRefusal>>;
type Quantity = NonNullable<Refusal["needed"]>;

const route = getRouteApi("/shell/accounts/$account/refusals/$request");

const fetchRefusal = (account: string, request: string) =>
  call(() => api.accounts({ account }).refusals({ request_id: request }).get());

const refusalQuery = (account: string, request: string) =>
  queryOptions({
    queryKey: ["account", account, "refusal", request],
    queryFn: () => fetchRefusal(account, request),
  });

/** Why one request was refused: the rule, what it needed, what there was, and what cures it. */
export function RefusalPage() {
  const { account, request } = route.useParams();
  const { data, error, refetch } = useQuery(refusalQuery(account, request));
  return (
    <div className={styles.page}>
      <PageHeader
        title="Why was this refused?"
        badges={data && <Badge tone="bad">{data.code.replaceAll("_", " ")}</Badge>}
        note={
          <span className={styles.id}>
            <code>{request}</code>
            <Copy text={request} label="Copy the request id" />
          </span>
        }
        back={{ to: "/accounts/$account/refusals", params: { account }, text: "Refusals" }}
      />
      {error && !data && <Unknown error={error} onRetry={() => void refetch()} />}
      {!error && !data && <Skeleton shape="block" />}
      {data && <Answer account={account} refusal={data} />}
    </div>
  );
}

function Answer({ account, refusal }: { readonly account: string; readonly refusal: Refusal }) {
  const { text, rule, at, model, key_id, key_name, needed, had, exact } = refusal;
  return (
    <>
      <Panel title={text} note={rule}>
        <Cure account={account} refusal={refusal} />
      </Panel>
      {exact || (
        <p className={styles.hint}>
          Only the last requests of each minute are stored: these numbers are those of another request of this
          key, refused for this reason in this minute.
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
      <Holds account={account} refusal={refusal} />
    </>
  );
}

function Amount({ quantity: { amount, unit } }: { readonly quantity: Quantity }) {
  if (unit === "usd") return <Money usd={amount} isExact />;
  return (
    <>
      {formatCount(Number(amount))} {unit}
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
  const { cure, cure_text, key_id, retry_after_s } = refusal;
  const mayRaise = useMay("keys.write");
  const mayTopUp = useMay("wallet.write");
  return (
    <div className={styles.cure}>
      <p>
        {cure_text}
        {retry_after_s !== null && ` It had to wait ${retry_after_s} s.`}
      </p>
      {cure === "raise_limit" && mayRaise && (
        <ButtonLink
          look="primary"
          to="/accounts/$account/keys/$key"
          params={{ account, key: key_id }}
          search={{ tab: "edit" }}
        >
          Raise the limit
        </ButtonLink>
      )}
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

function Unknown({ error, onRetry }: { readonly error: unknown; readonly onRetry: () => void }) {
  return (
    <>
      <ErrorPanel error={error} onRetry={onRetry} />
      <p className={styles.hint}>
        Refusals are kept for 7 days. A request without a valid key belongs to no account and is not kept.
      </p>
    </>
  );
}
