import type { ReactNode } from "react";
import styles from "./bar.module.css";
import { classes } from "./classes.ts";

interface BarProps {
  /** Used share of the limit, from 0; above 1 is drawn as 1. */
  readonly share: number;
  /** What is measured: "Spending limit". */
  readonly label: string;
  /** Used and limit, "$1.20 of $5.00". */
  readonly children?: ReactNode;
  /** When it resets, at the other end. */
  readonly note?: ReactNode;
}

const NEAR = 0.8;

/** How much of a limit is used. */
export function Bar({ share, label, children, note }: BarProps) {
  const drawn = Math.min(Math.max(share, 0), 1);
  const tone = share >= 1 ? styles.full : share >= NEAR && styles.near;
  const percent = Math.round(drawn * 100);
  return (
    <div className={styles.bar}>
      <svg
        className={styles.track}
        viewBox="0 0 100 6"
        preserveAspectRatio="none"
        role="meter"
        aria-label={label}
        aria-valuemin={0}
        aria-valuemax={100}
        aria-valuenow={percent}
      >
        <rect className={classes(styles.fill, tone)} width={drawn * 100} height="6" />
      </svg>
      {(children || note) && (
        <div className={styles.text}>
          <span>{children}</span>
          {note && <span>{note}</span>}
        </div>
      )}
    </div>
  );
}
