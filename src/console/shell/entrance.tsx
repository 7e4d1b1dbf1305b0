import { Outlet } from "@tanstack/react-router";
import { type ReactNode, useEffect } from "react";
import { Brand } from "./brand.tsx";
import styles from "./entrance.module.css";
import head from "./entrance-head.module.css";

/** The frame of pages before the sign-in: a card in the middle. */
export function Entrance() {
  return (
    <div className={styles.page}>
      <main tabIndex={-1} className={styles.main}>
        <div className={styles.brand}>
          <Brand size={28} /> Tollgate
        </div>
        <div className={styles.card}>
          <Outlet />
        </div>
      </main>
      <footer className={styles.foot}>A gateway in front of language models, with a prepaid wallet.</footer>
    </div>
  );
}

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
    <header className={head.head}>
      <h1>{title}</h1>
      {children && <div className={head.note}>{children}</div>}
    </header>
  );
}

/** Links at the end of a card. */
export function EntranceLinks({ children }: { readonly children: ReactNode }) {
  return <p className={head.links}>{children}</p>;
}

/** Contents of a card below each other. */
export function EntranceStack({ children }: { readonly children: ReactNode }) {
  return <div className={head.stack}>{children}</div>;
}
