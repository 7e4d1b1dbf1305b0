import type { ReactNode } from "react";
import styles from "./empty.module.css";
import { Icon, type IconName } from "./icons.tsx";

interface EmptyProps {
  readonly icon?: IconName;
  readonly title: string;
  /** What it means, and the one next step. */
  readonly children?: ReactNode;
  readonly actions?: ReactNode;
}

/** Stands where rows would be when there are none. */
export function Empty({ icon = "info", title, children, actions }: EmptyProps) {
  return (
    <div className={styles.empty}>
      <span className={styles.mark}>
        <Icon name={icon} size={20} />
      </span>
      <h3>{title}</h3>
      {children && <div className={styles.text}>{children}</div>}
      {actions && <div className={styles.actions}>{actions}</div>}
    </div>
  );
}
