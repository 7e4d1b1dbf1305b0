import { useQuery } from "@tanstack/react-query";
import { getRouteApi, Link } from "@tanstack/react-router";
import { useState } from "react";
import { Field } from "../../parts/field.tsx";
import { Empty, ErrorPanel, Skeleton } from "../../parts/loaded.tsx";
import { PageHeader } from "../../parts/page-header.tsx";
import { useAccountInView } from "../../shell/account-in-view.ts";
import styles from "./api-docs.module.css";
import { descriptionQuery, type Route } from "./description.ts";
import { RouteDetail } from "./route-detail.tsx";

const route = getRouteApi("/shell/api/docs");

/** Every route of `/v1` and of the console, from the description that programs read too. */
export function ApiDocsPage() {
  const { data: routes, error, refetch } = useQuery(descriptionQuery);
  const search = route.useSearch();
  const chosen = routes?.find(({ id }) => id === search.route) ?? routes?.[0];
  return (
    <>
      <PageHeader
        title="API"
        note={
          <>
            API keys open the routes below /v1, and <KeysLink /> those below /console/api. Programs read the
            same description as <a href="/console/api/openapi.json">openapi.json</a>.
          </>
        }
      />
      {error && <ErrorPanel error={error} onRetry={() => void refetch()} />}
      {!error && !routes && <Skeleton shape="block" />}
      {routes && chosen && (
        <div className={styles.page}>
          <RouteList routes={routes} chosen={chosen} />
          <RouteDetail key={chosen.id} route={chosen} />
        </div>
      )}
    </>
  );
}

/** Leads to the management keys of the account in view, for those who may see them. */
function KeysLink() {
  const account = useAccountInView();
  const isOwner = account?.role === "owner" || account?.role === "acting";
  if (!account || !isOwner) return "management keys";
  return (
    <Link to="/accounts/$account/management-keys" params={{ account: account.id }}>
      management keys
    </Link>
  );
}

function RouteList({ routes, chosen }: { readonly routes: readonly Route[]; readonly chosen: Route }) {
  const [text, setText] = useState("");
  const words = text.toLowerCase().split(/\s+/).filter(Boolean);
  const shown = routes.filter(({ id, summary, group }) =>
    words.every((word) => `${id} ${summary} ${group}`.toLowerCase().includes(word)),
  );
  const groups = Map.groupBy(shown, ({ group }) => group);
  return (
    <nav className={styles.list} aria-label="Routes">
      <div className={styles.filter}>
        <Field
          label="Filter"
          type="search"
          placeholder="keys, POST, top-up …"
          value={text}
          onChange={(event) => setText(event.target.value)}
        />
      </div>
      {shown.length === 0 && <Empty icon="search" title="No route has these words" />}
      {[...groups].map(([group, members]) => (
        <div key={group} className={styles.group}>
          <h2 className={styles.heading}>{group}</h2>
          {members.map(({ id, method, path, summary }) => (
            <Link
              key={id}
              to="/api/docs"
              search={{ route: id }}
              className={styles.route}
              data-chosen={id === chosen.id}
              aria-current={id === chosen.id ? "true" : undefined}
              resetScroll={false}
            >
              <span className={styles.method}>{method}</span>
              <span className={styles.name}>
                {summary}
                <small className={styles.path}>
                  {path
                    .replace("/console/api", "")
                    .split(/(?=[/:])/)
                    .map((part) => [part, <wbr key={part} />])}
                </small>
              </span>
            </Link>
          ))}
        </div>
      ))}
    </nav>
  );
}
