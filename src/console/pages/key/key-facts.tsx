import { Money } from "../../parts/money.tsx";
import { Panel } from "../../parts/panel.tsx";
import { Time } from "../../parts/time.tsx";
import { PERIOD_TEXTS } from "../keys/key-parts.tsx";
import type { KeyPageData } from "../keys/queries.ts";
import styles from "./key.module.css";

/** What is set on a key. */
export function KeyFacts({ shown }: { readonly shown: KeyPageData }) {
  const { spending_limit: limit, models, expires_at, previous, last_used_at, spent_30d_usd } = shown;
  return (
    <Panel title="Settings">
      <dl className={styles.facts}>
        <dt>Spent in 30 days</dt>
        <dd>
          <Money usd={spent_30d_usd} />
        </dd>
        <dt>Last used</dt>
        <dd>{last_used_at ? <Time at={last_used_at} as="relative" /> : "never"}</dd>
        <dt>Spending limit</dt>
        <dd>
          {limit ? (
            <>
              <Money usd={limit.amount_usd} /> {PERIOD_TEXTS[limit.period]}
              {limit.time_zone && limit.period !== "total" && ` (${limit.time_zone})`}
            </>
          ) : (
            "none"
          )}
        </dd>
        <dt>Models</dt>
        <dd>{models ? models.join(", ") : "every model"}</dd>
        <dt>Expires</dt>
        <dd>{expires_at ? <Time at={expires_at} /> : "never"}</dd>
        {previous && (
          <>
            <dt>Old secret</dt>
            <dd>
              <code>{previous.hint}</code> works until <Time at={previous.ends_at} />
            </dd>
          </>
        )}
        <dt>Long answers</dt>
        <dd>{shown.allows_clamp ? "shortened to what is left" : "refused when too little is left"}</dd>
      </dl>
    </Panel>
  );
}
