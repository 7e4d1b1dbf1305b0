import { useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { api, call } from "../../api.ts";
import { formatCount, formatExact, readUsd } from "../../format.ts";
import { Button } from "../../parts/button.tsx";
import { ConflictDialog, currentOf, type FieldInWords } from "../../parts/conflict-dialog.tsx";
import { Dialog, DialogActions, FormDialog } from "../../parts/dialog.tsx";
import type { Key } from "../../queries/keys.ts";
import { useAccount } from "../../session.ts";
import { formatTime } from "../../times.ts";
import { useAction } from "../../use-action.ts";
import { KeyFields } from "./key-fields.tsx";
import { changesOf, describePeriod, type KeyValues, readKeyForm, valuesOf } from "./key-values.ts";

interface EditKeyProps {
  readonly account: string;
  /** The key as it was when the dialog was opened. */
  readonly opened: Key;
  readonly onClose: () => void;
}

interface Edit {
  readonly version: number;
  readonly changes: Partial<KeyValues>;
}

/**
 * Edits a key. When another edit came first, shows both versions and lets the person choose. Only what the
 * person changed is saved over the other edit.
 */
export function EditKey({ account, opened, onClose }: EditKeyProps) {
  const queryClient = useQueryClient();
  const { role } = useAccount();
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
  const current = currentOf<Key>(edit.error);
  const changes = edit.variables?.changes;
  const submit = (form: HTMLFormElement) => {
    const values = readKeyForm(new FormData(form), before);
    edit.mutate({ version: base.version, changes: changesOf(before, values) });
  };
  const closeAndRead = () => {
    void queryClient.invalidateQueries({ queryKey: ["account", account, "keys"] });
    onClose();
  };
  if (current?.state === "revoked") return <Revoked name={current.name} onClose={closeAndRead} />;
  if (current && changes) {
    const theirs = valuesOf(current);
    return (
      <ConflictDialog
        thing="key"
        mine={describeValues({ ...theirs, ...changes })}
        theirs={describeValues(theirs)}
        isBusy={edit.isPending}
        onKeepMine={() => edit.mutate({ version: current.version, changes })}
        onTakeTheirs={() => {
          setBase(current);
          edit.reset();
        }}
        onClose={closeAndRead}
      />
    );
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
      onSubmit={(_, form) => submit(form)}
      onClose={onClose}
    >
      <KeyFields key={base.version} account={account} values={before} />
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
function describeValues(values: KeyValues): readonly FieldInWords[] {
  const { models, expires_at } = values;
  return [
    ["Name", values.name],
    ["Spending limit", describeSpending(values.spending_limit)],
    ["Requests per minute", describeCount(values.requests_per_minute)],
    ["Tokens per minute", describeCount(values.tokens_per_minute)],
    ["Running at once", describeCount(values.concurrent_requests)],
    ["Models", models ? [...models].sort().join(", ") : "every model"],
    ["Expires", expires_at === null ? "never" : formatTime(expires_at, "second")],
    ["Shortens answers", values.allows_clamp ? "yes" : "no"],
  ];
}

function describeSpending(limit: KeyValues["spending_limit"]): string {
  if (!limit) return "none";
  const zone = limit.time_zone ? `, ${limit.time_zone}` : "";
  return `${describeAmount(limit.amount_usd)} ${describePeriod(limit.period)}${zone}`;
}

/** What was typed may be no amount. */
function describeAmount(text: string): string {
  try {
    return formatExact(readUsd(text));
  } catch {
    return text;
  }
}

function describeCount(count: number | null): string {
  return count === null ? "default" : formatCount(count);
}
