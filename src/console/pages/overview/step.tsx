import { type ReactNode, useRef } from "react";
import { classes } from "../../parts/classes.ts";
import { Icon } from "../../parts/icons.tsx";
import styles from "./first-steps.module.css";

interface StepProps {
  readonly number: number;
  readonly title: string;
  readonly isDone: boolean;
  readonly children?: ReactNode;
}

/** A step whose number becomes a green check. One that is done while it is looked at, moves a little. */
export function Step({ number, title, isDone, children }: StepProps) {
  const wasOpen = useRef(!isDone);
  const isFresh = isDone && wasOpen.current;
  return (
    <li className={styles.step}>
      <span className={classes(styles.number, isDone && styles.done, isFresh && styles.fresh)}>
        {isDone ? <Icon name="check" /> : number}
      </span>
      <div className={styles.content}>
        <h3>
          {title}
          {isDone && <span className={styles.spoken}> (done)</span>}
        </h3>
        {children}
      </div>
    </li>
  );
}
