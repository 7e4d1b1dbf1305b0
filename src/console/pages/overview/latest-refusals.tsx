import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { ErrorPanel } from "../../parts/error-panel.tsx";
import { Panel } from "../../parts/panel.tsx";
import { Skeleton } from "../../parts/skeleton.tsx";
import { Time } from "../../parts/time.tsx";
import styles from "./overview.module.css";
import { refusalsQuery } from "./queries.ts";

/** The 3 newest refusals of the last 7 days; each leads to its reason. */
export function LatestRefusals({ account }: { readonly account: string }) {
  const { data, error, refetch } = useQuery(refusalsQuery(account));
  return (
    <Panel
      title="Latest refusals"
      actions={
        <Link to="/accounts/$account/refusals" params={{ account }}>
          All refusals
        </Link>
      }
    >
      {error && !data && <ErrorPanel error={error} onRetry={() => void refetch()} />}
      {!error && !data && <Skeleton lines={2} />}
      {data?.items.length === 0 && <p className={styles.quiet}>No request was refused in 7 days.</p>}
      <div className={styles.list}>
        {data?.items.map(({ last_request_id, code, key_name, key_id, minute, model }) => (
          <p key={last_request_id} className={styles.notice}>
            <Link to="/accounts/$account/refusals/$request" params={{ account, request: last_request_id }}>
              Why: {code.replaceAll("_", " ")}
            </Link>
            <small>
              {key_name ?? key_id}
              {model && ` · ${model}`} · <Time at={minute} as="relative" />
            </small>
          </p>
        ))}
      </div>
    </Panel>
  );
}
