import { printUsd } from "../../../domain/money.ts";
import { readUsd } from "../../format.ts";
import { ButtonLink } from "../../parts/button.tsx";
import { Money } from "../../parts/money.tsx";
import { Panel } from "../../parts/panel.tsx";
import { SpendingBar } from "../../parts/spending-limit.tsx";
import type { Refusal } from "../../queries/requests.ts";
import { useMay } from "../../session.ts";
import { describePeriod } from "../../spending-limits.ts";
import styles from "./refusal.module.css";
import { ScopeName, titleOfScope } from "./scopes.tsx";

type Limit = NonNullable<Refusal["spending_limit"]>;

/** The limit that refused a request: what it binds, and what it has counted by now. */
export function RefusingLimit({ account, limit }: { readonly account: string; readonly limit: Limit }) {
  const scope = titleOfScope(limit);
  return (
    <Panel
      title="The limit that refused it"
      note={
        <>
          {scope === "Account" ? "It binds " : `${scope} `}
          <ScopeName account={account} scope={limit} />. Its numbers are those of now.
        </>
      }
    >
      <Numbers limit={limit} label={`Spending limit: ${scope}`} />
    </Panel>
  );
}

function Numbers({ limit, label }: { readonly limit: Limit; readonly label: string }) {
  const { limit_usd, used_usd, on_hold_usd, period, resets_at } = limit;
  if (limit_usd === null || used_usd === null || on_hold_usd === null || period === null) {
    return <p className={styles.hint}>The limit was removed since.</p>;
  }
  const left = readUsd(limit_usd) - readUsd(used_usd) - readUsd(on_hold_usd);
  const counted = {
    amount_usd: limit_usd,
    period,
    used_usd,
    held_usd: on_hold_usd,
    remaining_usd: printUsd(left < 0n ? 0n : left),
    resets_at,
  };
  return (
    <div className={styles.limit}>
      <p>
        <strong>
          <Money usd={limit_usd} isExact />
        </strong>{" "}
        {describePeriod(period)}
      </p>
      <SpendingBar limit={counted} label={label} />
    </div>
  );
}

interface RaiseLimitProps {
  readonly account: string;
  readonly refusal: Refusal;
}

/** Leads to where the limit that refused can be raised: the key's, the project's, or that of members. */
export function RaiseLimit({ account, refusal: { key_id, spending_limit: limit } }: RaiseLimitProps) {
  const mayRaiseKeys = useMay("keys.write");
  const mayRaiseProjects = useMay("projects.write");
  const mayRaiseMembers = useMay("member_limits.write");
  const text = "Raise the limit";
  const project = projectOf(limit);
  const key = limit === null || limit.kind === "key" ? (limit?.id ?? key_id) : undefined;
  if (project !== undefined && mayRaiseProjects) {
    return (
      <ButtonLink look="primary" to="/accounts/$account/projects/$project" params={{ account, project }}>
        {text}
      </ButtonLink>
    );
  }
  if (limit?.kind === "member" && mayRaiseMembers) {
    return (
      <ButtonLink look="primary" to="/accounts/$account/team" params={{ account }}>
        {text}
      </ButtonLink>
    );
  }
  if (key === undefined || !mayRaiseKeys) return null;
  return (
    <ButtonLink
      look="primary"
      to="/accounts/$account/keys/$key"
      params={{ account, key }}
      search={{ tab: "edit" }}
    >
      {text}
    </ButtonLink>
  );
}

/** The project whose limit it is: its own, or that of each of its end users, of which the id begins with it. */
function projectOf(limit: Limit | null): string | undefined {
  if (limit?.kind === "project") return limit.id ?? undefined;
  return limit?.kind === "end_user" ? /^project:(.+):each_end_user$/.exec(limit.limit_id)?.[1] : undefined;
}
