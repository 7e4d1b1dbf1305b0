import { api, call } from "../../api.ts";
import type { FormValues } from "../../form-values.ts";
import { ReasonField } from "../../parts/confirm.tsx";
import { Field } from "../../parts/field.tsx";
import { FormDialog } from "../../parts/form-dialog.tsx";
import { useAction } from "../../use-action.ts";
import { ACCOUNTS_KEY, type ListedAccount } from "./queries.ts";

interface MarkupProps {
  readonly account: ListedAccount;
  readonly onClose: () => void;
}

/** Sets the factor over upstream costs that an account pays. */
export function MarkupDialog({ account, onClose }: MarkupProps) {
  const set = useAction({
    act: ({ markup = "", reason = "" }: FormValues) => {
      const body = { markup: markup.trim() || null, reason };
      return call(() => api.operator.accounts({ id: account.id }).markup.put(body));
    },
    renews: [ACCOUNTS_KEY],
    done: "Markup set",
    isForm: true,
    onDone: onClose,
  });
  return (
    <FormDialog
      title={`Set the markup of ${account.name}`}
      note="It replaces the prices of models whose upstream cost is known, for requests from now on."
      action="Set the markup"
      call={set}
      onSubmit={(values) => set.mutate(values)}
      onClose={onClose}
    >
      <Field
        label="Factor over the upstream cost"
        name="markup"
        hint="Such as 1.15. Empty: the account pays the prices of the models."
        defaultValue={account.markup ?? ""}
        inputMode="decimal"
        autoComplete="off"
      />
      <ReasonField />
    </FormDialog>
  );
}
