import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { localise, readUsd } from "../../format.ts";
import { Bar } from "../../parts/bar.tsx";
import { Loaded, Skeleton } from "../../parts/loaded.tsx";
import { Money } from "../../parts/money.tsx";
import { Panel } from "../../parts/panel.tsx";
import { Time } from "../../parts/time.tsx";
import {
  keyNamesQuery,
  latestRefusalsQuery,
  type NamedKey,
  newestNoticesQuery,
} from "../../queries/overview.ts";
import styles from "./overview.module.css";

/** The 3 newest refusals of the last 7 days; each leads to its reason. */
export function LatestRefusals({ account }: { readonly account: string }) {
  const query = useQuery(latestRefusalsQuery(account));
  return (
    <Panel
      title="Latest refusals"
      actions={
        <Link to="/accounts/$account/refusals" params={{ account }}>
          All refusals
        </Link>
      }
    >
      <Loaded query={query} waiting={<Skeleton lines={2} />}>
        {({ items }) => (
          <>
            {items.length === 0 && <p className={styles.quiet}>No request was refused in 7 days.</p>}
            <div className={styles.list}>
              {items.map(({ last_request_id, code, key_name, key_id, minute, model }) => (
                <p key={last_request_id} className={styles.notice}>
                  <Link
                    to="/accounts/$account/refusals/$request"
                    params={{ account, request: last_request_id }}
                  >
                    Why: {code.replaceAll("_", " ")}
                  </Link>
                  <small>
                    {key_name ?? key_id}
                    {model && ` · ${model}`} · <Time at={minute} as="relative" />
                  </small>
                </p>
              ))}
            </div>
          </>
        )}
      </Loaded>
    </Panel>
  );
}

/** Share of a spending limit from which a key is listed. */
const NEAR = 0.75;
const SHOWN_MAX = 4;

type Limited = NamedKey & { readonly spending_limit: NonNullable<NamedKey["spending_limit"]> };

/** Keys whose spending limit is nearly used up, held money included. */
export function NearLimits({ account }: { readonly account: string }) {
  const { data } = useQuery(keyNamesQuery(account));
  const near = (data?.items ?? [])
    .filter((key): key is Limited => key.state === "active" && key.spending_limit !== null)
    .map((key) => ({ key, share: shareOf(key) }))
    .filter(({ share }) => share >= NEAR)
    .sort((a, b) => b.share - a.share)
    .slice(0, SHOWN_MAX);
  return (
    <Panel title="Keys near their limit">
      {near.length === 0 && (
        <p className={styles.quiet}>No key has used more than 75% of its spending limit.</p>
      )}
      <div className={styles.list}>
        {near.map(({ key, share }) => (
          <div key={key.id} className={styles.limit}>
            <Link to="/accounts/$account/keys/$key" params={{ account, key: key.id }}>
              {key.name}
            </Link>
            <Limit limited={key} share={share} />
          </div>
        ))}
      </div>
    </Panel>
  );
}

function Limit({ limited, share }: { readonly limited: Limited; readonly share: number }) {
  const { amount_usd, remaining_usd, resets_at } = limited.spending_limit;
  return (
    <Bar
      share={share}
      label={`Spending limit of ${limited.name}`}
      note={
        resets_at && (
          <>
            resets <Time at={resets_at} />
          </>
        )
      }
    >
      <Money usd={remaining_usd} /> of <Money usd={amount_usd} /> left
    </Bar>
  );
}

function shareOf({ spending_limit: { amount_usd, remaining_usd } }: Limited): number {
  const amount = readUsd(amount_usd);
  if (amount === 0n) return 1;
  return Number(amount - readUsd(remaining_usd)) / Number(amount);
}

/** The newest notices that are unread or still hold. */
export function OpenNotices({ account }: { readonly account: string }) {
  const { data } = useQuery(newestNoticesQuery(account));
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
            {localise(text)}
            <small>
              <Time at={raised_at} as="relative" />
            </small>
          </p>
        ))}
      </div>
    </Panel>
  );
}
