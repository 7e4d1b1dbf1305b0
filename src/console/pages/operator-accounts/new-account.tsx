import { api, call } from "../../api.ts";
import type { FormValues } from "../../form-values.ts";
import { useIdempotencyKey } from "../../idempotency-key.ts";
import { Field } from "../../parts/field.tsx";
import { FormDialog } from "../../parts/form-dialog.tsx";
import { meQuery } from "../../session.ts";
import { useAction } from "../../use-action.ts";
import { ACCOUNTS_KEY } from "./queries.ts";

/** Creates an account whose first owner is the operator. */
export function NewAccount({ onClose }: { readonly onClose: () => void }) {
  const headersFor = useIdempotencyKey();
  const create = useAction({
    act: ({ name = "", email = "" }: FormValues) => {
      const body = { name: name.trim(), ...(email && { email }) };
      return call(() => api.accounts.post(body, { headers: headersFor(body) }));
    },
    renews: [ACCOUNTS_KEY, meQuery.queryKey],
    done: "Account created",
    isForm: true,
    onDone: onClose,
  });
  return (
    <FormDialog
      title="New account"
      note="You become its first owner, and can invite others. Its wallet is empty."
      action="Create account"
      call={create}
      onSubmit={(values) => create.mutate(values)}
      onClose={onClose}
    >
      <Field label="Name" name="name" maxLength={100} autoComplete="off" required />
      <Field
        label="E-mail of the account"
        name="email"
        type="email"
        hint="For invoices."
        maxLength={254}
        autoComplete="off"
        isOptional
      />
    </FormDialog>
  );
}
