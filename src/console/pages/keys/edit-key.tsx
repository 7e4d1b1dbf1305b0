import { useQuery, useQueryClient } from "@tanstack/react-query";
import { api, call } from "../../api.ts";
import { formatCount } from "../../format.ts";
import { Button } from "../../parts/button.tsx";
import { ConflictDialog, type FieldInWords, useEdit } from "../../parts/conflict-dialog.tsx";
import { Dialog, DialogActions, FormDialog } from "../../parts/dialog.tsx";
import type { Key } from "../../queries/keys.ts";
import { projectsQuery } from "../../queries/projects.ts";
import { useAccount } from "../../session.ts";
import { describeLimit } from "../../spending-limits.ts";
import { formatTime } from "../../times.ts";
import { KeyFields } from "./key-fields.tsx";
import { type KeyValues, readKeyForm, valuesOf } from "./key-values.ts";

interface EditKeyProps {
  readonly account: string;
  /** The key as it was when the dialog was opened. */
  readonly opened: Key;
  readonly onClose: () => void;
}

/**
 * Edits a key. When another edit came first, shows both versions and lets the person choose. Only what the
 * person changed is saved over the other edit.
 */
export function EditKey({ account, opened, onClose }: EditKeyProps) {
  const queryClient = useQueryClient();
  const { role } = useAccount();
  const { data: projects } = useQuery(projectsQuery(account));
  const nameOfProject = (id: string) => projects?.items.find((each) => each.id === id)?.name ?? id;
  const { base, values, edit, current, conflict, submit } = useEdit({
    opened,
    valuesOf,
    save: (change) => call(() => api.accounts({ account }).keys({ key: opened.id }).patch(change)),
    renews: [["account", account, "keys"]],
    done: "Key saved",
    onSaved: onClose,
  });
  const closeAndRead = () => {
    void queryClient.invalidateQueries({ queryKey: ["account", account, "keys"] });
    onClose();
  };
  if (current?.state === "revoked") return <Revoked name={current.name} onClose={closeAndRead} />;
  if (conflict) {
    const describe = (of: KeyValues) => describeValues(of, nameOfProject);
    return <ConflictDialog thing="key" conflict={conflict} describe={describe} onClose={closeAndRead} />;
  }
  return (
    <FormDialog
      title={`Edit “${base.name}”`}
      note={
        role === "acting"
          ? "You act inside this account: the key's bounds may become narrower, and its owners alone widen them."
          : undefined
      }
      action="Save"
      isWide
      call={edit}
      onSubmit={(_, form) => submit(readKeyForm(new FormData(form), values))}
      onClose={onClose}
    >
      <KeyFields key={base.version} account={account} values={values} isBelow={base.parent_id !== null} />
    </FormDialog>
  );
}

function Revoked({ name, onClose }: { readonly name: string; readonly onClose: () => void }) {
  return (
    <Dialog
      title={`“${name}” was revoked meanwhile`}
      note="Nothing of yours is saved: a revoked key cannot be changed."
      isOpen
      onClose={onClose}
    >
      <DialogActions>
        <Button onClick={onClose}>Close</Button>
      </DialogActions>
    </Dialog>
  );
}

/** Puts every field of a key into words. */
function describeValues(values: KeyValues, nameOfProject: (id: string) => string): readonly FieldInWords[] {
  const { models, tiers, expires_at, project_id } = values;
  return [
    ["Name", values.name],
    ...(project_id === null ? [] : [["Project", nameOfProject(project_id)] as const]),
    ["Spending limit", describeLimit(values.spending_limit)],
    ["Requests per minute", describeCount(values.requests_per_minute)],
    ["Tokens per minute", describeCount(values.tokens_per_minute)],
    ["Running at once", describeCount(values.concurrent_requests)],
    ["Models", models ? [...models].sort().join(", ") : "every model"],
    ["Service tiers", tiers ? ["standard", ...tiers].join(", ") : "every tier"],
    ["Expires", expires_at === null ? "never" : formatTime(expires_at, "second")],
    ["May use tools with a fee", values.allows_paid_tools ? "yes" : "no"],
    ["Shortens answers", values.allows_clamp ? "yes" : "no"],
    ["May make keys", values.allows_children ? "yes" : "no"],
  ];
}

function describeCount(count: number | null): string {
  return count === null ? "default" : formatCount(count);
}
