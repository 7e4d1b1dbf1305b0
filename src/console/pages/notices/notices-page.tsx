import { useQuery } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import { api, call } from "../../api.ts";
import { localise } from "../../format.ts";
import { Badge } from "../../parts/badge.tsx";
import { type Column, Pager } from "../../parts/data-table.tsx";
import { ChoiceFilter, SearchField } from "../../parts/filters.tsx";
import { buttonColumn, ListTable } from "../../parts/list-table.tsx";
import { Empty, NoMatch } from "../../parts/loaded.tsx";
import { PageHeader } from "../../parts/page-header.tsx";
import { Panel } from "../../parts/panel.tsx";
import styles from "../../parts/stack.module.css";
import { Tabs } from "../../parts/tabs.tsx";
import { Time } from "../../parts/time.tsx";
import { NOTICE_STATES, type Notice, type NoticesOf, noticesQuery } from "../../queries/notices.ts";
import { withSearch } from "../../search.ts";
import { accountNowQuery } from "../../session.ts";
import { useAction } from "../../use-action.ts";
import { Rules } from "./rules.tsx";

const route = getRouteApi("/shell/accounts/$account/notices");

/** What crossed a threshold, newest first. */
export function NoticesPage() {
  const { account } = route.useParams();
  const search = route.useSearch();
  const isFiltered = Boolean(search.q || search.state || search.page);
  const of = search.tab === "subjects" ? "subjects" : "account";
  const navigate = route.useNavigate();
  const list = useQuery(noticesQuery(account, of, search));
  const read = useAction({
    act: (notice: string) => call(() => api.accounts({ account }).notices({ notice }).read.post()),
    renews: [["account", account, "notices"], accountNowQuery(account).queryKey],
  });
  const markAsRead = buttonColumn<Notice>({
    text: "Mark as read",
    isShown: ({ read_at }) => read_at === null,
    onPress: ({ id }) => read.mutate(id),
  });
  return (
    <div className={styles.page}>
      <PageHeader
        title="Notices"
        badges={
          list.data && list.data.unread > 0 && <Badge tone="accent">{`${list.data.unread} unread`}</Badge>
        }
        note="Balances, limits and upstreams that crossed a threshold."
      />
      <Tabs
        label="Notices of"
        value={of}
        onChange={(id) =>
          void navigate({
            search: withSearch({ tab: id === "account" ? undefined : id, page: undefined, q: undefined }),
            replace: true,
          })
        }
        tabs={TABS.map(({ id, title, empty }) => ({
          id,
          title,
          content: (
            <Panel isFlush>
              <ListTable
                caption="Notices"
                filters={
                  <>
                    <SearchField name="q" value={search.q} label="Words of a notice" />
                    <ChoiceFilter label="Show" name="state" usual="all" options={NOTICE_STATES} />
                  </>
                }
                columns={[...COLUMNS, markAsRead]}
                rowKey={(notice) => notice.id}
                empty={
                  isFiltered ? (
                    <>
                      <NoMatch filters={["state"]} />
                      <Pager next={list.data?.next ?? null} isNewestFirst />
                    </>
                  ) : (
                    <Empty icon="bell" title="No notice">
                      {empty}
                    </Empty>
                  )
                }
                query={list}
                footer={<Pager next={list.data?.next ?? null} isNewestFirst />}
              />
            </Panel>
          ),
        }))}
      />
      <Rules account={account} />
    </div>
  );
}

const TABS = [
  {
    id: "account",
    title: "Account and keys",
    empty: "No threshold of the rules below was crossed.",
  },
  {
    id: "subjects",
    title: "End users and runs",
    empty: "No end user, member or run has used the share of its limit that a rule below reports.",
  },
] as const satisfies readonly { id: NoticesOf; title: string; empty: string }[];

const KINDS = {
  balance_below: "balance",
  credit_ends: "credit",
  key_limit: "limit",
  subject_limit: "limit",
  subject_summary: "sum of an hour",
  upstream_errors: "upstream",
  test: "test",
} as const satisfies Record<Notice["kind"], string>;

const COLUMNS: readonly Column<Notice>[] = [
  {
    id: "text",
    header: "Notice",
    cell: ({ text, read_at }) => (read_at ? localise(text) : <strong>{localise(text)}</strong>),
  },
  { id: "kind", header: "About", isNarrow: true, cell: ({ kind }) => KINDS[kind] },
  {
    id: "raised",
    header: "Raised",
    isNarrow: true,
    cell: ({ raised_at }) => <Time at={raised_at} as="relative" />,
  },
  {
    id: "ended",
    header: "Ended",
    isNarrow: true,
    cell: ({ ended_at, kind, subject_kind }) =>
      subject_kind || kind === "subject_summary" ? (
        "–"
      ) : ended_at || kind === "test" ? (
        <Time at={ended_at} as="relative" />
      ) : (
        <Badge tone="warn">still crossed</Badge>
      ),
  },
];
