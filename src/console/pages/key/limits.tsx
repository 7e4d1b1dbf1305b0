import { plural } from "../../format.ts";
import { Icon } from "../../parts/icons.tsx";
import { Panel } from "../../parts/panel.tsx";
import { type Limit, LimitBar } from "../keys/limit-bar.tsx";
import type { KeyPageData } from "../keys/queries.ts";
import styles from "./key.module.css";

/** Limits that are shown at once; the others are behind a press. */
const SHOWN_MAX = 3;

/** What binds the key, tightest first, and what its next request would be refused for. */
export function BindingLimits({ shown }: { readonly shown: KeyPageData }) {
  const { limits } = shown;
  const others = limits.slice(SHOWN_MAX);
  return (
    <Panel title="What binds this key" note="The tightest limit comes first.">
      <div className={styles.stack}>
        <NextRequest shown={shown} />
        <LimitBars limits={limits.slice(0, SHOWN_MAX)} />
        {others.length > 0 && (
          <details className={styles.others}>
            <summary>{plural(others.length, "more limit")} with more room</summary>
            <LimitBars limits={others} />
          </details>
        )}
      </div>
    </Panel>
  );
}

function NextRequest({ shown: { next_refusal, bound_by } }: { readonly shown: KeyPageData }) {
  if (next_refusal) {
    return (
      <div className={styles.refused} role="status">
        <Icon name="refusal" size={20} />
        <div>
          <strong>The next request would be refused.</strong> {next_refusal.text}{" "}
          <code>{next_refusal.code}</code>
        </div>
      </div>
    );
  }
  return (
    <div className={styles.admitted} role="status">
      <Icon name="check" size={20} />
      <div>
        <strong>The next request would be admitted.</strong> {bound_by.text}
      </div>
    </div>
  );
}

function LimitBars({ limits }: { readonly limits: readonly Limit[] }) {
  return (
    <ul className={styles.limits}>
      {limits.map((limit) => (
        <li key={limit.limit}>
          <LimitBar limit={limit} />
        </li>
      ))}
    </ul>
  );
}
