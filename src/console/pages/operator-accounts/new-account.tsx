import { api, call } from "../../api.ts";
import { readForm } from "../../form-values.ts";
import { useIdempotencyKey } from "../../idempotency-key.ts";
import { Button } from "../../parts/button.tsx";
import { Dialog, DialogActions } from "../../parts/dialog.tsx";
import { Failure, Field, Form } from "../../parts/field.tsx";
import { meQuery } from "../../session.ts";
import { useAction } from "../../use-action.ts";
import { ACCOUNTS_KEY } from "./queries.ts";

/** Creates an account whose first owner is the operator. */
export function NewAccount({ onClose }: { readonly onClose: () => void }) {
  const headersFor = useIdempotencyKey();
  const create = useAction({
    act: ({ name = "", email = "" }: Readonly<Record<string, string>>) => {
      const body = { name, ...(email && { email }) };
      return call(() => api.accounts.post(body, { headers: headersFor(body) }));
    },
    renews: [ACCOUNTS_KEY, meQuery.queryKey],
    done: "Account created",
    isForm: true,
    onDone: onClose,
  });
  return (
    <Dialog
      title="New account"
      note="You become its first owner, and can invite others."
      isOpen
      isKept
      onClose={onClose}
    >
      <Form onSubmit={(event) => create.mutate(readForm(event))}>
        <Field label="Name" name="name" maxLength={100} required autoFocus />
        <Field label="E-mail of the account" name="email" type="email" hint="For invoices." isOptional />
        <Failure error={create.error} />
        <DialogActions>
          <Button onClick={onClose}>Cancel</Button>
          <Button type="submit" look="primary" isBusy={create.isPending}>
            Create account
          </Button>
        </DialogActions>
      </Form>
    </Dialog>
  );
}
