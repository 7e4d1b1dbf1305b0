import { type ReactNode, useEffect } from "react";
import styles from "./entrance-head.module.css";

interface EntranceHeadProps {
  /** Also the title of the tab. */
  readonly title: string;
  readonly children?: ReactNode;
}

/** Title and explanation on a card before the sign-in. */
export function EntranceHead({ title, children }: EntranceHeadProps) {
  useEffect(() => {
    document.title = `${title} · Tollgate`;
  }, [title]);
  return (
    <header className={styles.head}>
      <h1>{title}</h1>
      {children && <div className={styles.note}>{children}</div>}
    </header>
  );
}

/** Links at the end of a card. */
export function EntranceLinks({ children }: { readonly children: ReactNode }) {
  return <p className={styles.links}>{children}</p>;
}

/** Contents of a card below each other. */
export function EntranceStack({ children }: { readonly children: ReactNode }) {
  return <div className={styles.stack}>{children}</div>;
}
