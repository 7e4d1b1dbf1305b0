import type { FormEvent } from "react";
import { api, call } from "../../api.ts";
import { useIdempotencyKey } from "../../idempotency-key.ts";
import { Button } from "../../parts/button.tsx";
import { Dialog, DialogActions } from "../../parts/dialog.tsx";
import { Failure, Form } from "../../parts/field.tsx";
import { useAction } from "../../use-action.ts";
import { IssuedSecret } from "./issued-secret.tsx";
import { KeyFields } from "./key-fields.tsx";
import { type KeyValues, readKeyForm } from "./key-values.ts";

interface CreateKeyProps {
  readonly account: string;
  readonly onClose: () => void;
}

/** Creates a key, then shows its secret once. */
export function CreateKey({ account, onClose }: CreateKeyProps) {
  const headersFor = useIdempotencyKey();
  const create = useAction({
    act: (values: KeyValues) => {
      const headers = headersFor(values);
      return call(() => api.accounts({ account }).keys.post(values, { headers }));
    },
    renews: [["account", account, "keys"]],
    isForm: true,
  });
  if (create.data) {
    const title = `Key “${create.data.key.name}” is ready`;
    return <IssuedSecret account={account} title={title} issued={create.data} onClose={onClose} />;
  }
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    create.mutate(readKeyForm(new FormData(event.currentTarget)));
  };
  return (
    <Dialog title="Create a key" isOpen isKept isWide onClose={onClose}>
      <Form onSubmit={submit}>
        <KeyFields account={account} error={create.error} />
        <Failure error={create.error} />
        <DialogActions>
          <Button onClick={onClose}>Cancel</Button>
          <Button type="submit" look="primary" isBusy={create.isPending}>
            Create key
          </Button>
        </DialogActions>
      </Form>
    </Dialog>
  );
}
