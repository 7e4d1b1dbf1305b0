import type { ReactNode } from "react";
import { Skeleton } from "./loaded.tsx";
import styles from "./stat.module.css";

interface StatProps {
  readonly name: string;
  /** `undefined` while loading. */
  readonly value: ReactNode | undefined;
  /** A comparison or an explanation, in a few words. */
  readonly note?: ReactNode;
}

/** Figures beside each other. */
export function Stats({ label, children }: { readonly label: string; readonly children: ReactNode }) {
  return (
    <section aria-label={label}>
      <dl className={styles.stats}>{children}</dl>
    </section>
  );
}

/** One figure with its name. */
export function Stat({ name, value, note }: StatProps) {
  return (
    <div className={styles.stat}>
      <dt className={styles.name}>{name}</dt>
      <dd className={styles.value}>{value === undefined ? <Skeleton shape="title" /> : value}</dd>
      {note && <dd className={styles.note}>{note}</dd>}
    </div>
  );
}
