import { classes } from "./classes.ts";
import styles from "./skeleton.module.css";

interface SkeletonProps {
  /** Default: a line. */
  readonly shape?: "line" | "title" | "block";
  /** Number of lines. */
  readonly lines?: number;
}

/** The shape of what is being loaded. Becomes visible after 150 ms, so that fast answers do not flicker. */
export function Skeleton({ shape = "line", lines = 1 }: SkeletonProps) {
  const each = classes(styles.skeleton, styles[shape]);
  if (lines === 1) return <span className={each} aria-hidden="true" data-skeleton />;
  return (
    <span className={styles.lines} aria-hidden="true">
      {Array.from({ length: lines }, (_, index) => index).map((index) => (
        <span key={index} className={each} data-skeleton />
      ))}
    </span>
  );
}
