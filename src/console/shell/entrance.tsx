import { Outlet } from "@tanstack/react-router";
import { Brand } from "./brand.tsx";
import styles from "./entrance.module.css";

/** The frame of pages before the sign-in: a card in the middle. */
export function Entrance() {
  return (
    <div className={styles.page}>
      <main className={styles.main}>
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
