import { Switch as Base } from "@base-ui/react/switch";
import { type ReactNode, useId } from "react";
import styles from "./switch.module.css";

interface SwitchProps {
  readonly label: string;
  readonly hint?: ReactNode;
  readonly isOn: boolean;
  readonly isDisabled?: boolean;
  readonly onChange: (isOn: boolean) => void;
}

/** A setting that is on or off. */
export function Switch({ label, hint, isOn, isDisabled = false, onChange }: SwitchProps) {
  const id = useId();
  return (
    <div className={styles.row}>
      <Base.Root
        className={styles.switch}
        checked={isOn}
        disabled={isDisabled}
        onCheckedChange={onChange}
        aria-labelledby={id}
      >
        <Base.Thumb className={styles.thumb} />
      </Base.Root>
      <div>
        <div id={id} className={styles.label}>
          {label}
        </div>
        {hint && <div className={styles.hint}>{hint}</div>}
      </div>
    </div>
  );
}
