import { type FormEvent, useState } from "react";
import { ApiError, api, call } from "../../api.ts";
import { Button } from "../../parts/button.tsx";
import { Dialog, DialogActions } from "../../parts/dialog.tsx";
import { Failure, Form } from "../../parts/field.tsx";
import { useAction } from "../../use-action.ts";
import { KeyFields } from "../keys/key-fields.tsx";
import { changesOf, type KeyValues, readKeyForm, valuesOf } from "../keys/key-values.ts";
import type { Key } from "../keys/queries.ts";
import { compareValues } from "./compare-values.ts";
import styles from "./key.module.css";

interface EditKeyProps {
  readonly account: string;
  /** The key as it was when the dialog was opened. */
  readonly opened: Key;
  readonly onClose: () => void;
}

interface Edit {
  readonly version: number;
  readonly values: KeyValues;
  readonly changes: Partial<KeyValues>;
}

/** Edits a key. When another edit came first, shows both versions and lets the person choose. */
export function EditKey({ account, opened, onClose }: EditKeyProps) {
  const [base, setBase] = useState(opened);
  const before = valuesOf(base);
  const edit = useAction({
    act: ({ version, changes }: Edit) =>
      call(() =>
        api
          .accounts({ account })
          .keys({ key: opened.id })
          .patch({ version, ...changes }),
      ),
    renews: [["account", account, "keys"]],
    done: "Key saved",
    isForm: true,
    onDone: onClose,
  });
  const current = currentOf(edit.error);
  const mine = edit.variables?.values;
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const values = readKeyForm(new FormData(event.currentTarget), before);
    edit.mutate({ version: base.version, values, changes: changesOf(before, values) });
  };
  if (current && mine) {
    const theirs = valuesOf(current);
    return (
      <Conflict
        mine={mine}
        theirs={theirs}
        isBusy={edit.isPending}
        onKeepMine={() =>
          edit.mutate({ version: current.version, values: mine, changes: changesOf(theirs, mine) })
        }
        onTakeTheirs={() => {
          setBase(current);
          edit.reset();
        }}
        onClose={onClose}
      />
    );
  }
  return (
    <Dialog title={`Edit “${base.name}”`} isOpen isKept isWide onClose={onClose}>
      <Form onSubmit={submit}>
        <KeyFields key={base.version} account={account} values={before} error={edit.error} />
        <Failure error={edit.error} />
        <DialogActions>
          <Button onClick={onClose}>Cancel</Button>
          <Button type="submit" look="primary" isBusy={edit.isPending}>
            Save
          </Button>
        </DialogActions>
      </Form>
    </Dialog>
  );
}

interface ConflictProps {
  readonly mine: KeyValues;
  readonly theirs: KeyValues;
  readonly isBusy: boolean;
  readonly onKeepMine: () => void;
  readonly onTakeTheirs: () => void;
  readonly onClose: () => void;
}

function Conflict({ mine, theirs, isBusy, onKeepMine, onTakeTheirs, onClose }: ConflictProps) {
  return (
    <Dialog
      title="Somebody else saved this key first"
      note="Nothing of yours is saved yet. Marked fields differ."
      isOpen
      isKept
      isWide
      onClose={onClose}
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
          {compareValues(mine, theirs).map((field) => (
            <tr key={field.name} className={field.differs ? styles.differs : undefined}>
              <th scope="row">{field.name}</th>
              <td>{field.mine}</td>
              <td>{field.theirs}</td>
            </tr>
          ))}
        </tbody>
      </table>
      <DialogActions>
        <Button onClick={onTakeTheirs}>Edit theirs</Button>
        <Button look="primary" isBusy={isBusy} onClick={onKeepMine}>
          Save mine over theirs
        </Button>
      </DialogActions>
    </Dialog>
  );
}

/** The key as the server has it, of a refused edit. */
function currentOf(error: Error | null): Key | undefined {
  if (!(error instanceof ApiError) || error.status !== 409) return undefined;
  // Safe because the schema of a 409 of this route has the key.
  return (error.body as { readonly current?: Key }).current;
}
