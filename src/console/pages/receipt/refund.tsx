import { type FormEvent, useState } from "react";
import { api, call } from "../../api.ts";
import { readForm } from "../../form-values.ts";
import { formatExact, readUsd } from "../../format.ts";
import { newKey } from "../../idempotency-key.ts";
import { Button } from "../../parts/button.tsx";
import { Dialog, DialogActions } from "../../parts/dialog.tsx";
import { Failure, Field, Form } from "../../parts/field.tsx";
import { useMe } from "../../session.ts";
import { useAction } from "../../use-action.ts";
import type { ReceiptData } from "./queries.ts";

interface RefundProps {
  readonly account: string;
  readonly receipt: ReceiptData;
}

/** Lets an operator give money back, at most what was charged and is not refunded yet. */
export function Refund({ account, receipt }: RefundProps) {
  const { person } = useMe();
  const [isOpen, setIsOpen] = useState(false);
  const rest = readUsd(receipt.charged_usd) - readUsd(receipt.refunded_usd);
  if (!person.is_operator || rest <= 0n) return null;
  return (
    <>
      <Button onClick={() => setIsOpen(true)}>Refund</Button>
      {isOpen && (
        <RefundDialog account={account} receipt={receipt} rest={rest} onClose={() => setIsOpen(false)} />
      )}
    </>
  );
}

function RefundDialog({
  account,
  receipt,
  rest,
  onClose,
}: RefundProps & { readonly rest: bigint; readonly onClose: () => void }) {
  // One id for as long as the dialog is open: a repeated press refunds once.
  const [id] = useState(() => `refund-${newKey()}`);
  const refund = useAction({
    act: (body: { readonly amount_usd?: string; readonly reason: string }) =>
      call(() => api.operator.accounts({ id: account }).refunds.post({ id, receipt: receipt.id, ...body })),
    renews: [["account", account]],
    done: "Refunded",
    isForm: true,
    onDone: onClose,
  });
  const submit = (event: FormEvent<HTMLFormElement>) => {
    const { amount = "", reason = "" } = readForm(event);
    const amountUsd = amount.trim().replace(/^\$/, "");
    refund.mutate({ reason, ...(amountUsd !== "" && { amount_usd: amountUsd }) });
  };
  return (
    <Dialog
      title="Refund this request"
      note="The money returns to the wallet at once. The audit trail shows who refunded it, and why."
      isOpen
      isKept
      onClose={onClose}
    >
      <Form onSubmit={submit}>
        <Field
          label="Amount in USD"
          name="amount"
          affix="$"
          inputMode="decimal"
          pattern="\$?\d{1,10}(\.\d{1,9})?"
          autoComplete="off"
          isOptional
          hint={`Empty refunds all that is left: ${formatExact(rest)}.`}
        />
        <Field label="Reason" name="reason" required maxLength={500} autoComplete="off" />
        <Failure error={refund.error} />
        <DialogActions>
          <Button onClick={onClose}>Cancel</Button>
          <Button type="submit" look="primary" isBusy={refund.isPending}>
            Refund
          </Button>
        </DialogActions>
      </Form>
    </Dialog>
  );
}
