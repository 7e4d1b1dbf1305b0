import { useState } from "react";
import { Button } from "../../parts/button.tsx";
import { CodeBlock } from "../../parts/code-block.tsx";
import { Dialog, DialogActions } from "../../parts/dialog.tsx";
import styles from "./keys.module.css";
import type { Key } from "./queries.ts";
import { SnippetTabs } from "./snippet-tabs.tsx";

interface IssuedSecretProps {
  readonly account: string;
  readonly title: string;
  readonly issued: { readonly key: Key; readonly secret: string };
  readonly onClose: () => void;
}

/** Shows the secret of a key, once. Escape and the cross ask before it is lost. */
export function IssuedSecret({ account, title, issued: { key, secret }, onClose }: IssuedSecretProps) {
  const [isWarned, setIsWarned] = useState(false);
  return (
    <Dialog
      title={title}
      note="This is the only time that the secret is shown: only its digest is stored."
      isOpen
      isKept
      isWide
      onClose={() => (isWarned ? onClose() : setIsWarned(true))}
    >
      <div className={styles.stack}>
        <CodeBlock label="secret" code={secret} isWrapped />
        <SnippetTabs account={account} models={key.models} secret={secret} />
        {isWarned && (
          <p className={styles.warning} role="alert">
            The secret cannot be shown again. Close once more if it is stored safely.
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
