import { Dialog as Base } from "@base-ui/react/dialog";
import { type ReactNode, useRef, useState } from "react";
import { IconButton } from "./button.tsx";
import { classes } from "./classes.ts";
import styles from "./dialog.module.css";

interface DialogProps {
  readonly title: string;
  readonly note?: ReactNode;
  readonly isOpen: boolean;
  readonly onClose: () => void;
  readonly isWide?: boolean;
  /** Keeps open on a press outside, and asks before it drops what was typed: for forms and secrets. */
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
  const [loss, setLoss] = useState<"none" | "typed" | "warned">("none");
  const close = () => (isKept && loss === "typed" ? setLoss("warned") : onClose());
  // A touch would open the keyboard over the dialog.
  const focusFirst = (opener: string) =>
    opener === "touch" || (body.current?.querySelector<HTMLElement>(FIELD) ?? true);
  return (
    <Base.Root open={isOpen} onOpenChange={(open) => open || close()} disablePointerDismissal={isKept}>
      <Base.Portal>
        <Base.Backdrop className={styles.backdrop} />
        <Base.Popup className={classes(styles.dialog, isWide && styles.wide)} initialFocus={focusFirst}>
          <div className={styles.head}>
            <Base.Title className={styles.title}>{title}</Base.Title>
            <Base.Close render={<IconButton icon="close" label="Close" size="small" />} />
          </div>
          {note && <Base.Description className={styles.note}>{note}</Base.Description>}
          <div className={styles.body} ref={body} onInput={() => setLoss("typed")}>
            {children}
          </div>
          {loss === "warned" && (
            <p className={styles.warning} role="alert">
              What you typed is not saved. Close once more to drop it.
            </p>
          )}
        </Base.Popup>
      </Base.Portal>
    </Base.Root>
  );
}

/** The buttons at the end of a dialog. */
export function DialogActions({ children }: { readonly children: ReactNode }) {
  return <div className={styles.foot}>{children}</div>;
}
