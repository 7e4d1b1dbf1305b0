import { printUsd } from "../../../domain/money.ts";
import { formatExact } from "../../format.ts";
import { Money } from "../../parts/money.tsx";
import { type Answer, releasedOf } from "./answer.ts";
import styles from "./playground.module.css";

const WIDTH = 1000;

/** What is granted, spent and released, as it happens. */
export function HoldBar({ answer }: { readonly answer: Answer }) {
  const { granted, spent } = answer;
  if (granted === undefined) return null;
  const released = releasedOf(answer);
  const share = granted === 0n ? 0 : Number((spent * BigInt(WIDTH)) / granted);
  const drawn = Math.min(share, WIDTH);
  const label = `Granted ${formatExact(granted)}, spent ${formatExact(spent)}${
    released === undefined ? "" : `, released ${formatExact(released)}`
  }.`;
  return (
    <div className={styles.hold}>
      <svg
        className={styles.track}
        viewBox={`0 0 ${WIDTH} 8`}
        preserveAspectRatio="none"
        role="img"
        aria-label={label}
      >
        <rect className={styles.granted} width={WIDTH} height="8" />
        {released !== undefined && (
          <rect className={styles.released} x={drawn} width={WIDTH - drawn} height="8" />
        )}
        <rect className={styles.spent} width={drawn} height="8" />
      </svg>
      <dl className={styles.terms}>
        <Term name="granted" className={styles.granted} usd={printUsd(granted)} />
        <Term name="spent" className={styles.spent} usd={printUsd(spent)} />
        <Term
          name="released"
          className={styles.released}
          usd={released === undefined ? undefined : printUsd(released)}
        />
      </dl>
    </div>
  );
}

interface TermProps {
  readonly name: string;
  readonly className: string | undefined;
  readonly usd: string | undefined;
}

function Term({ name, className, usd }: TermProps) {
  return (
    <div className={styles.term}>
      <dt>
        <svg viewBox="0 0 10 10" width="10" height="10" aria-hidden="true">
          <rect className={className} width="10" height="10" rx="2" />
        </svg>
        {name}
      </dt>
      <dd>
        <Money usd={usd} isExact />
      </dd>
    </div>
  );
}
