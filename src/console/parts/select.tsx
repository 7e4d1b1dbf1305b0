import { Select as Base } from "@base-ui/react/select";
import { Icon } from "./icons.tsx";
import styles from "./popup.module.css";

interface SelectProps<Value extends string> {
  /** What is chosen: "Model". Shown before the value. */
  readonly label: string;
  readonly value: Value;
  readonly options: readonly { readonly value: Value; readonly text: string }[];
  readonly onChange: (value: Value) => void;
}

/** A choice in a row of filters. */
export function Select<Value extends string>({ label, value, options, onChange }: SelectProps<Value>) {
  const items = options.map((option) => ({ value: option.value, label: option.text }));
  return (
    <Base.Root items={items} value={value} onValueChange={(next) => next !== null && onChange(next)}>
      <Base.Trigger className={styles.trigger} aria-label={label}>
        <span className={styles.name}>{label}</span>
        <Base.Value className={styles.value} />
        <Icon name="chevron" />
      </Base.Trigger>
      <Base.Portal>
        <Base.Positioner className={styles.positioner} sideOffset={4} alignItemWithTrigger={false}>
          <Base.Popup className={styles.popup}>
            {items.map((item) => (
              <Base.Item key={item.value} value={item.value} className={styles.item}>
                <span className={styles.mark}>
                  <Base.ItemIndicator>
                    <Icon name="check" />
                  </Base.ItemIndicator>
                </span>
                <Base.ItemText>{item.label}</Base.ItemText>
              </Base.Item>
            ))}
          </Base.Popup>
        </Base.Positioner>
      </Base.Portal>
    </Base.Root>
  );
}
