import { type FormEvent, useState } from "react";
import { api, call } from "../../api.ts";
import { readForm } from "../../form-values.ts";
import { newKey } from "../../idempotency-key.ts";
import { Button } from "../../parts/button.tsx";
import { Dialog, DialogActions } from "../../parts/dialog.tsx";
import { Failure, Field, Form } from "../../parts/field.tsx";
import { useAction } from "../../use-action.ts";

interface OperatorTopUpProps {
  readonly account: string;
  readonly onClose: () => void;
}

/** Credits the wallet as an operator. The id books it once, however often it is sent. */
export function OperatorTopUp({ account, onClose }: OperatorTopUpProps) {
  const [id] = useState(() => `console-${newKey().slice(0, 16)}`);
  const credit = useAction({
    act: (body: { readonly amount_usd: string; readonly id: string; readonly reason: string }) =>
      call(() => api.operator.accounts({ id: account })["top-ups"].post(body)),
    renews: [["account", account, "wallet"]],
    done: "Wallet credited",
    isForm: true,
    onDone: onClose,
  });
  const submit = (event: FormEvent<HTMLFormElement>) => {
    const { amount_usd = "", id: given = "", reason = "" } = readForm(event);
    credit.mutate({ amount_usd: amount_usd.trim().replace(/^\$/, ""), id: given.trim(), reason });
  };
  return (
    <Dialog
      title="Credit this wallet"
      note="As a platform operator. The audit trail keeps amount, id and reason."
      isOpen
      isKept
      onClose={onClose}
    >
      <Form onSubmit={submit}>
        <Field
          label="Amount"
          name="amount_usd"
          affix="$"
          inputMode="decimal"
          pattern="\$?\d{1,10}(\.\d{1,9})?"
          autoComplete="off"
          required
        />
        <Field label="Reason" name="reason" maxLength={500} autoComplete="off" required />
        <Field
          label="Id"
          name="id"
          hint="Of the invoice, for example. The same id is booked once."
          defaultValue={id}
          maxLength={128}
          autoComplete="off"
          required
        />
        <Failure error={credit.error} />
        <DialogActions>
          <Button onClick={onClose}>Cancel</Button>
          <Button type="submit" look="primary" isBusy={credit.isPending}>
            Credit
          </Button>
        </DialogActions>
      </Form>
    </Dialog>
  );
}
