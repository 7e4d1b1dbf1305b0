import type { ReactNode } from "react";
import { formatCompact, formatCount } from "../format.ts";
import { Skeleton } from "./loaded.tsx";
import styles from "./stack.module.css";

/** One line of a list of facts; `undefined` while loading. */
export function Fact({ name, children }: { readonly name: string; readonly children: ReactNode }) {
  return (
    <div className={styles.fact}>
      <dt>{name}</dt>
      <dd>{children === undefined ? <Skeleton /> : children}</dd>
    </div>
  );
}

/** A count that may be long, with all of its digits in the title. */
export function Compact({ count }: { readonly count: number }) {
  return <span title={formatCount(count)}>{formatCompact(count)}</span>;
}
