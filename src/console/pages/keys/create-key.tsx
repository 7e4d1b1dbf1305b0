import { api, call } from "../../api.ts";
import { useIdempotencyKey } from "../../idempotency-key.ts";
import { FormDialog } from "../../parts/form-dialog.tsx";
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
  return (
    <FormDialog
      title="Create a key"
      action="Create key"
      isWide
      call={create}
      onSubmit={(_, form) => create.mutate(readKeyForm(new FormData(form)))}
      onClose={onClose}
    >
      <KeyFields account={account} />
    </FormDialog>
  );
}
