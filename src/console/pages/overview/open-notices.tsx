import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { Panel } from "../../parts/panel.tsx";
import { Time } from "../../parts/time.tsx";
import styles from "./overview.module.css";
import { noticesQuery } from "./queries.ts";

/** The newest notices that are unread or still hold. */
export function OpenNotices({ account }: { readonly account: string }) {
  const { data } = useQuery(noticesQuery(account));
  const open = (data?.items ?? []).filter(({ ended_at, read_at }) => ended_at === null || read_at === null);
  return (
    <Panel
      title="Notices"
      actions={
        <Link to="/accounts/$account/notices" params={{ account }}>
          All notices
        </Link>
      }
    >
      {open.length === 0 && <p className={styles.quiet}>Nothing needs attention.</p>}
      <div className={styles.list}>
        {open.map(({ id, text, raised_at }) => (
          <p key={id} className={styles.notice}>
            {text}
            <small>
              <Time at={raised_at} as="relative" />
            </small>
          </p>
        ))}
      </div>
    </Panel>
  );
}
