import { ApiError } from "../api.ts";
import { Button } from "./button.tsx";
import styles from "./conflict-dialog.module.css";
import { Dialog, DialogActions } from "./dialog.tsx";

/** One field in words: its name and its value. */
export type FieldInWords = readonly [name: string, text: string];

interface ConflictDialogProps {
  /** What both edited: "key". */
  readonly thing: string;
  /** The fields of this editor, and those that somebody else saved, in the same order. */
  readonly mine: readonly FieldInWords[];
  readonly theirs: readonly FieldInWords[];
  readonly isBusy: boolean;
  readonly onKeepMine: () => void;
  readonly onTakeTheirs: () => void;
  readonly onClose: () => void;
}

/** Puts two versions of an edited thing beside each other, and lets the person choose. */
export function ConflictDialog({ thing, mine, theirs, ...rest }: ConflictDialogProps) {
  const saved = new Map(theirs);
  return (
    <Dialog
      title={`Somebody else saved this ${thing} first`}
      note="Nothing of yours is saved yet. Marked fields differ; what you left alone stays as it is saved."
      isOpen
      isKept
      isWide
      onClose={rest.onClose}
    >
      <table className={styles.versions}>
        <thead>
          <tr>
            <th scope="col">Field</th>
            <th scope="col">Yours</th>
            <th scope="col">Theirs, saved</th>
          </tr>
        </thead>
        <tbody>
          {mine.map(([name, text]) => (
            <tr key={name} className={saved.get(name) === text ? undefined : styles.differs}>
              <th scope="row">{name}</th>
              <td>{text}</td>
              <td>{saved.get(name)}</td>
            </tr>
          ))}
        </tbody>
      </table>
      <DialogActions>
        <Button onClick={rest.onTakeTheirs}>Edit theirs</Button>
        <Button look="primary" isBusy={rest.isBusy} onClick={rest.onKeepMine}>
          Save mine over theirs
        </Button>
      </DialogActions>
    </Dialog>
  );
}

/** The item as the server has it, of a refused edit. */
export function currentOf<Item>(error: Error | null): Item | undefined {
  if (!(error instanceof ApiError) || error.code !== "conflict") return undefined;
  // Safe because the schema of a 409 of an edit has the item. Other conflicts have none.
  return (error.body as { readonly current?: Item }).current;
}
