import type { ReactNode } from "react";
import styles from "./badge.module.css";
import { classes } from "./classes.ts";

export type Tone = "neutral" | "good" | "warn" | "bad" | "info" | "accent";

/** A state in one or two words. */
export function Badge({
  tone = "neutral",
  children,
}: {
  readonly tone?: Tone;
  readonly children: ReactNode;
}) {
  return <span className={classes(styles.badge, tone !== "neutral" && styles[tone])}>{children}</span>;
}
