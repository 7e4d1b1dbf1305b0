import { useState } from "react";
import { api, call } from "../../api.ts";
import { formatExact, readUsd } from "../../format.ts";
import { Button } from "../../parts/button.tsx";
import { ActionDialog, ReasonField } from "../../parts/dialog.tsx";
import { AmountField } from "../../parts/typed-fields.tsx";
import type { ReceiptData } from "../../queries/requests.ts";
import { useMe } from "../../session.ts";
import { readAmount } from "../../typed-amount.ts";
import { newKey } from "../../use-action.ts";

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
  return (
    <ActionDialog
      title="Refund this request"
      note="The money returns to the wallet at once. The audit trail shows who refunded it, and why."
      action="Refund"
      act={({ amount_usd, reason = "" }) => {
        const amount = readAmount(amount_usd);
        const body = { id, receipt: receipt.id, reason, ...(amount && { amount_usd: amount }) };
        return call(() => api.operator.accounts({ id: account }).refunds.post(body));
      }}
      renews={[["account", account]]}
      done="Refunded"
      onClose={onClose}
    >
      <AmountField hint={`Empty refunds all that is left: ${formatExact(rest)}.`} isOptional />
      <ReasonField />
    </ActionDialog>
  );
}
