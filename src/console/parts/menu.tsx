import { Menu as Base } from "@base-ui/react/menu";
import { IconButton } from "./button.tsx";
import { classes } from "./classes.ts";
import { Icon, type IconName } from "./icons.tsx";
import styles from "./popup.module.css";

/** One action of a menu; `null` in a list draws a line. */
interface MenuItem {
  readonly text: string;
  readonly icon?: IconName;
  readonly isDanger?: boolean;
  readonly isDisabled?: boolean;
  readonly onSelect: () => void;
}

interface MenuProps {
  /** What the actions are for: "Actions of key Production". */
  readonly label: string;
  readonly items: readonly (MenuItem | null)[];
  readonly icon?: IconName;
}

/** Actions behind a button with three dots. */
export function Menu({ label, items, icon = "more" }: MenuProps) {
  return (
    <Base.Root>
      <Base.Trigger render={<IconButton icon={icon} label={label} size="small" />} />
      <Base.Portal>
        <Base.Positioner className={styles.positioner} sideOffset={4} align="end">
          <Base.Popup className={styles.popup}>
            {items.map((item, index) =>
              item ? (
                <Base.Item
                  key={item.text}
                  className={classes(styles.item, item.isDanger && styles.danger)}
                  disabled={item.isDisabled ?? false}
                  onClick={item.onSelect}
                >
                  {item.icon && <Icon name={item.icon} />}
                  {item.text}
                </Base.Item>
              ) : (
                // biome-ignore lint/suspicious/noArrayIndexKey: a line has nothing else to be known by.
                <Base.Separator key={index} className={styles.separator} />
              ),
            )}
          </Base.Popup>
        </Base.Positioner>
      </Base.Portal>
    </Base.Root>
  );
}
