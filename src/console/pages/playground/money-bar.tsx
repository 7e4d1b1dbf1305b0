import { formatExact, readUsd } from "../../format.ts";
import { Money } from "../../parts/money.tsx";
import type { Chat } from "./events.ts";
import styles from "./playground.module.css";

/** What the request holds, has spent and gives back, in three colours that fill while the answer streams. */
export function MoneyBar({ chat: { granted, spent, isSettled, outputTokens } }: { readonly chat: Chat }) {
  if (granted === undefined) return null;
  const held = readUsd(granted);
  const used = spent === undefined ? 0n : readUsd(spent);
  const left = held > used ? held - used : 0n;
  const share = held === 0n ? 0 : Math.min(100, Number((used * 10_000n) / held) / 100);
  const rest = isSettled ? "released" : "still held";
  return (
    <div className={styles.money}>
      <svg
        className={styles.track}
        viewBox="0 0 100 8"
        preserveAspectRatio="none"
        role="img"
        aria-label={`${formatExact(used)} of ${formatExact(held)} spent, ${formatExact(left)} ${rest}`}
      >
        <rect className={isSettled ? styles.released : styles.granted} width="100" height="8" />
        <rect className={styles.spent} width={share} height="8" />
      </svg>
      <dl className={styles.amounts}>
        <div>
          <dt>Granted</dt>
          <dd>
            <Money usd={granted} isExact />
          </dd>
        </div>
        <div>
          <dt>Spent</dt>
          <dd>
            <Money usd={spent ?? "0.00"} isExact />
          </dd>
        </div>
        <div>
          <dt>{isSettled ? "Released" : "Still held"}</dt>
          <dd>{formatExact(left)}</dd>
        </div>
        <div>
          <dt>Output tokens</dt>
          <dd>{outputTokens.toLocaleString("en-US")}</dd>
        </div>
      </dl>
    </div>
  );
}
