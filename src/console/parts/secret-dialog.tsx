import { type ReactNode, useState } from "react";
import { Button } from "./button.tsx";
import { CodeBlock } from "./code-block.tsx";
import { Dialog, DialogActions } from "./dialog.tsx";
import styles from "./secret-dialog.module.css";

interface SecretDialogProps {
  readonly title: string;
  readonly note: string;
  /** What is shown: "secret". */
  readonly label: string;
  readonly secret: string;
  /** What can be done with it. */
  readonly children?: ReactNode;
  readonly onClose: () => void;
}

/** Shows a secret that cannot be shown again. Escape and the cross ask before it is lost. */
export function SecretDialog({ title, note, label, secret, children, onClose }: SecretDialogProps) {
  const [isWarned, setIsWarned] = useState(false);
  return (
    <Dialog
      title={title}
      note={note}
      isOpen
      isKept
      isWide
      onClose={() => (isWarned ? onClose() : setIsWarned(true))}
    >
      <div className={styles.stack}>
        <CodeBlock label={label} code={secret} isWrapped />
        {children}
        {isWarned && (
          <p className={styles.warning} role="alert">
            It cannot be shown again. Close once more if it is stored safely.
          </p>
        )}
        <DialogActions>
          <Button look="primary" icon="check" onClick={onClose}>
            I have stored it
          </Button>
        </DialogActions>
      </div>
    </Dialog>
  );
}
