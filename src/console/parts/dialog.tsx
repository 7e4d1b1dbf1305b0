import { Dialog as Base } from "@base-ui/react/dialog";
import { type ReactNode, useRef } from "react";
import { IconButton } from "./button.tsx";
import { classes } from "./classes.ts";
import styles from "./dialog.module.css";

interface DialogProps {
  readonly title: string;
  readonly note?: ReactNode;
  readonly isOpen: boolean;
  readonly onClose: () => void;
  readonly isWide?: boolean;
  /** Keeps open on a press outside, for forms and secrets that must not be lost. */
  readonly isKept?: boolean;
  readonly children: ReactNode;
}

const FIELD = "input:not([type=hidden]), select, textarea";

/**
 * A window over the page. The first field has the focus, which stays inside and returns to where it was. A field with
 * `autoFocus` would take it before the window knows where it was.
 */
export function Dialog({ title, note, isOpen, onClose, isWide, isKept = false, children }: DialogProps) {
  const body = useRef<HTMLDivElement>(null);
  // A touch would open the keyboard over the dialog.
  const focusFirst = (opener: string) =>
    opener === "touch" || (body.current?.querySelector<HTMLElement>(FIELD) ?? true);
  return (
    <Base.Root open={isOpen} onOpenChange={(open) => open || onClose()} disablePointerDismissal={isKept}>
      <Base.Portal>
        <Base.Backdrop className={styles.backdrop} />
        <Base.Popup className={classes(styles.dialog, isWide && styles.wide)} initialFocus={focusFirst}>
          <div className={styles.head}>
            <Base.Title className={styles.title}>{title}</Base.Title>
            <Base.Close render={<IconButton icon="close" label="Close" size="small" />} />
          </div>
          {note && <Base.Description className={styles.note}>{note}</Base.Description>}
          <div className={styles.body} ref={body}>
            {children}
          </div>
        </Base.Popup>
      </Base.Portal>
    </Base.Root>
  );
}

/** The buttons at the end of a dialog. */
export function DialogActions({ children }: { readonly children: ReactNode }) {
  return <div className={styles.foot}>{children}</div>;
}
