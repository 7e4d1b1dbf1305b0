import { useQuery } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import { DownloadLink } from "../../parts/button.tsx";
import { ChoiceFilter, SearchField } from "../../parts/filters.tsx";
import { ViewLink } from "../../parts/list-table.tsx";
import { PageHeader } from "../../parts/page-header.tsx";
import { RangePicker } from "../../parts/range-picker.tsx";
import styles from "../../parts/stack.module.css";
import { AUTHOR_KINDS, auditTrailQuery, isAuthorKind, type TrailQuery } from "../../queries/account.ts";
import { platformTrailQuery } from "../../queries/operator.ts";
import { type RangeSearch, resolveRange } from "../../ranges.ts";
import type { Filters } from "../../search.ts";
import { describeAction, TrailTable } from "./trail-table.tsx";

const route = getRouteApi("/shell/accounts/$account/audit-trail");

/** Every change inside the account. */
export function AuditTrailPage() {
  const { account } = route.useParams();
  const search = route.useSearch();
  const query = queryOf(search);
  const list = useQuery(auditTrailQuery(account, query));
  const { page: _, ...filter } = query;
  const csv = `/console/api/accounts/${encodeURIComponent(account)}/audit-trail.csv?${new URLSearchParams(filter)}`;
  return (
    <div className={styles.page}>
      <PageHeader title="Audit trail" note="Every change inside this account: who, what and when.">
        <RangePicker usual={undefined} />
        <DownloadLink href={csv}>CSV</DownloadLink>
      </PageHeader>
      <TrailFilters search={search} isPlatform={false} />
      <TrailTable list={list} />
    </div>
  );
}

const operatorRoute = getRouteApi("/shell/operator/audit-trail");

/** Every change of the platform, in all accounts. */
export function OperatorAuditTrailPage() {
  const search = operatorRoute.useSearch();
  const query = queryOf(search);
  const list = useQuery(platformTrailQuery(query));
  return (
    <div className={styles.page}>
      <PageHeader
        title="Audit trail of the platform"
        note="Every change in all accounts: who, what and when."
      >
        <RangePicker usual={undefined} />
      </PageHeader>
      <TrailFilters search={search} isPlatform />
      <TrailTable list={list} hasAccounts />
    </div>
  );
}

/** The filters of an audit trail, as the URL holds them. */
type TrailSearch = RangeSearch & Filters<"actor" | "by" | "action" | "page">;

const IN_ACCOUNTS = [
  ...[
    "account",
    "auto_top_up",
    "checkout",
    "code",
    "invitation",
    "key",
    "management_key",
    "member",
    "notice_rule",
  ],
  ...["project", "shared_link", "subscription", "wallet"],
];
const ON_PLATFORM = ["operator", "password", "payment", "person", "session", "sessions", "upstream"];

/** Who changed, and what was changed. Every value of `action` that is in the URL can be chosen. */
function TrailFilters({ search, isPlatform }: { search: TrailSearch; isPlatform: boolean }) {
  const { actor, action = "" } = search;
  const nouns = isPlatform ? [...IN_ACCOUNTS, ...ON_PLATFORM].sort() : IN_ACCOUNTS;
  const listed = action === "" || nouns.includes(action) ? nouns : [action, ...nouns];
  return (
    <div className={styles.filters}>
      <SearchField name="actor" value={actor} label="Name or id of the author" />
      <ChoiceFilter
        label="Author"
        name="by"
        usual="anyone"
        options={Object.entries(AUTHOR_KINDS).map(([value, text]) => ({ value, text }))}
      />
      <ChoiceFilter
        label="What"
        name="action"
        usual="every change"
        options={listed.map((each) => ({ value: each, text: describeAction(each) }))}
      />
      <ViewLink />
    </div>
  );
}

/** The query of the API for a search. Without a range in the URL it selects all times. */
function queryOf({ actor, by, action, page, ...range }: TrailSearch): TrailQuery {
  const hasRange = range.range !== undefined || range.from !== undefined;
  const { from, to } = resolveRange(range);
  return {
    ...(actor && { actor }),
    ...(isAuthorKind(by) && { actor_kind: by }),
    ...(action && { action }),
    ...(page && { page }),
    ...(hasRange && { from, to }),
  };
}
