import { Link } from "@tanstack/react-router";
import { Money } from "../../parts/money.tsx";
import { Panel } from "../../parts/panel.tsx";
import { formatTime } from "../../times.ts";
import type { anomaliesQuery } from "./queries.ts";
import styles from "./usage.module.css";

type Anomaly = Awaited<
  ReturnType<NonNullable<ReturnType<typeof anomaliesQuery>["queryFn"]>>
>["items"][number];

/** Days that cost more than three times what is usual for their weekday. */
export function Anomalies({ items }: { readonly items: readonly Anomaly[] }) {
  if (items.length === 0) return null;
  return (
    <Panel
      title={
        items.length === 1 ? "One day cost more than usual" : `${items.length} days cost more than usual`
      }
      note="More than three times the median of the same weekday in the 8 weeks before. UTC days."
    >
      <ul className={styles.anomalies}>
        {items.map(({ day, cost_usd, usual_usd, key_id, key_name }) => (
          <li key={day}>
            <Link
              to="."
              search={(all: object) => ({ ...all, range: undefined, from: day, to: day }) as never}
            >
              {formatTime(`${day}T12:00:00Z`, "date")}
            </Link>
            <span>
              <Money usd={cost_usd} />, usually <Money usd={usual_usd} />
              {key_id && `. Most by ${key_name ?? key_id}`}
            </span>
          </li>
        ))}
      </ul>
    </Panel>
  );
}
