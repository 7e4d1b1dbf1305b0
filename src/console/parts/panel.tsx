import { type ReactNode, useId } from "react";
import { classes } from "./classes.ts";
import styles from "./panel.module.css";

interface PanelProps {
  readonly title?: ReactNode;
  /** One sentence below the title. */
  readonly note?: ReactNode;
  readonly actions?: ReactNode;
  /** Without inner space, for tables. */
  readonly isFlush?: boolean;
  readonly children: ReactNode;
}

/** A section of a page on a surface of its own. */
export function Panel({ title, note, actions, isFlush = false, children }: PanelProps) {
  const id = useId();
  return (
    <section className={styles.panel} aria-labelledby={title ? id : undefined}>
      {(title || actions) && (
        <div className={styles.head}>
          <div className={styles.title}>
            {title && <h2 id={id}>{title}</h2>}
            {note && <p className={styles.note}>{note}</p>}
          </div>
          {actions && <div className={styles.actions}>{actions}</div>}
        </div>
      )}
      <div className={classes(styles.body, isFlush && styles.flush)}>{children}</div>
    </section>
  );
}
