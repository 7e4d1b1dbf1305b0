import { useState } from "react";
import { ApiError } from "../api.ts";
import { type ActionOptions, useAction } from "../use-action.ts";
import { Button } from "./button.tsx";
import styles from "./conflict-dialog.module.css";
import { Dialog, DialogActions } from "./dialog.tsx";

interface Versioned {
  readonly version: number;
}

/** What the person changed, and the version that it replaces. */
interface Change<Values> extends Versioned {
  readonly changes: Partial<Values>;
}

interface EditOptions<Item extends Versioned, Values extends object>
  extends Pick<ActionOptions<Change<Values>, Item>, "renews" | "done"> {
  /** The item as it was when its form was opened. */
  readonly opened: Item;
  /** What can be changed of an item. */
  readonly valuesOf: (item: Item) => Values;
  readonly save: (change: Versioned & Partial<Values>) => Promise<Item>;
  readonly onSaved?: () => void;
}

/** A change of an item that others may change too. Only what the person changed is saved over another edit. */
export function useEdit<Item extends Versioned, Values extends object>({
  opened,
  valuesOf,
  save,
  onSaved,
  ...options
}: EditOptions<Item, Values>) {
  const [base, setBase] = useState(opened);
  const edit = useAction({
    ...options,
    act: ({ version, changes }: Change<Values>) => save({ version, ...changes }),
    isForm: true,
    onDone: (saved) => {
      setBase(saved);
      onSaved?.();
    },
  });
  const current = currentOf<Item>(edit.error);
  const { version, changes } = edit.variables ?? {};
  const conflict: Conflict<Values> | undefined = current &&
    changes && {
      mine: { ...valuesOf(current), ...changes },
      theirs: valuesOf(current),
      isBusy: edit.isPending,
      keepMine: () => edit.mutate({ version: current.version, changes }),
      takeTheirs: () => {
        setBase(current);
        edit.reset();
      },
    };
  const submit = (values: Values) =>
    edit.mutate({ version: base.version, changes: changesOf(valuesOf(base), values) });
  return { base, values: valuesOf(base), edit, version, current, conflict, submit };
}

/** The members in which two values differ, of the second. */
export function changesOf<Values extends object>(before: Values, after: Values): Partial<Values> {
  const textOf = (values: Values, name: string) => JSON.stringify(values[name as keyof Values]);
  const names = Object.keys(after).filter((name) => textOf(after, name) !== textOf(before, name));
  // Safe because every name is a member's.
  return Object.fromEntries(names.map((name) => [name, after[name as keyof Values]])) as Partial<Values>;
}

/** One field in words: its name and its value. */
export type FieldInWords = readonly [name: string, text: string];

const MINE = "Yours";
const THEIRS = "Theirs, saved";

/** Two edits of one version. */
interface Conflict<Values> {
  /** The values that this editor sent. */
  readonly mine: Values;
  /** The values that another editor saved before this one. */
  readonly theirs: Values;
  readonly isBusy: boolean;
  readonly keepMine: () => void;
  readonly takeTheirs: () => void;
}

interface ConflictDialogProps<Values> {
  /** What both edited: "key". */
  readonly thing: string;
  readonly conflict: Conflict<Values>;
  /** Puts each field into words, always in the same order. */
  readonly describe: (values: Values) => readonly FieldInWords[];
  readonly onClose: () => void;
}

/** Puts two versions of an edited thing beside each other, and lets the person choose. */
export function ConflictDialog<Values>({ thing, conflict, describe, onClose }: ConflictDialogProps<Values>) {
  const saved = new Map(describe(conflict.theirs));
  return (
    <Dialog
      title={`Somebody else saved this ${thing} first`}
      note="Nothing of yours is saved yet. Marked fields differ; what you left alone stays as it is saved."
      isOpen
      isKept
      isWide
      onClose={onClose}
    >
      <table className={styles.versions}>
        <thead>
          <tr>
            <th scope="col">Field</th>
            <th scope="col">{MINE}</th>
            <th scope="col">{THEIRS}</th>
          </tr>
        </thead>
        <tbody>
          {describe(conflict.mine).map(([name, text]) => (
            <tr key={name} className={saved.get(name) === text ? undefined : styles.differs}>
              <th scope="row">{name}</th>
              <td data-label={MINE}>{text}</td>
              <td data-label={THEIRS}>{saved.get(name)}</td>
            </tr>
          ))}
        </tbody>
      </table>
      <DialogActions>
        <Button onClick={conflict.takeTheirs}>Edit theirs</Button>
        <Button look="primary" isBusy={conflict.isBusy} onClick={conflict.keepMine}>
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
