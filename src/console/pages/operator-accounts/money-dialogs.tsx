import { useState } from "react";
import { api, call } from "../../api.ts";
import { readForm } from "../../form-values.ts";
import { formatCents, readUsd } from "../../format.ts";
import { newKey } from "../../idempotency-key.ts";
import { Button } from "../../parts/button.tsx";
import { Dialog, DialogActions } from "../../parts/dialog.tsx";
import { Failure, Field, Form } from "../../parts/field.tsx";
import { showToast } from "../../parts/toast.tsx";
import { useAction } from "../../use-action.ts";
import { ACCOUNTS_KEY, type ListedAccount } from "./queries.ts";

interface MoneyProps {
  readonly account: ListedAccount;
  readonly onClose: () => void;
}

interface Booked {
  readonly available_usd: string;
  readonly replayed: boolean;
}

const ID_MAX = 128;

/** Tops an account up by hand, under an id that is booked once. */
export function CreditDialog({ account, onClose }: MoneyProps) {
  const book = useAction({
    act: ({ id = "", amount = "", reason = "" }: Readonly<Record<string, string>>) =>
      call(() =>
        api.operator.accounts({ id: account.id })["top-ups"].post({ id, amount_usd: amount, reason }),
      ),
    renews: [ACCOUNTS_KEY],
    isForm: true,
    onDone: (booked) => {
      report(booked, "Credit added");
      onClose();
    },
  });
  return (
    <Dialog
      title={`Add credit to ${account.name}`}
      note="It is available at once."
      isOpen
      isKept
      onClose={onClose}
    >
      <Form onSubmit={(event) => book.mutate(readForm(event))}>
        <Field
          label="Amount in USD"
          name="amount"
          affix="$"
          inputMode="decimal"
          hint="Up to 9 decimals."
          required
          autoFocus
        />
        <BookingId />
        <Field label="Reason" name="reason" hint="Shown in the audit trail." maxLength={500} required />
        <Failure error={book.error} />
        <Actions text="Add credit" isBusy={book.isPending} onClose={onClose} />
      </Form>
    </Dialog>
  );
}

/** Gives the charge of one request back, or a part of it. */
export function RefundDialog({ account, onClose }: MoneyProps) {
  const book = useAction({
    act: ({ id = "", receipt = "", amount = "", reason = "" }: Readonly<Record<string, string>>) => {
      const body = { id, receipt, reason, ...(amount && { amount_usd: amount }) };
      return call(() => api.operator.accounts({ id: account.id }).refunds.post(body));
    },
    renews: [ACCOUNTS_KEY],
    isForm: true,
    onDone: (booked) => {
      report(booked, "Refund booked");
      onClose();
    },
  });
  return (
    <Dialog title={`Refund a request of ${account.name}`} isOpen isKept onClose={onClose}>
      <Form onSubmit={(event) => book.mutate(readForm(event))}>
        <Field label="Request id" name="receipt" hint="The id of its receipt." required autoFocus />
        <Field
          label="Amount in USD"
          name="amount"
          affix="$"
          inputMode="decimal"
          hint="Empty gives the whole charge back."
          isOptional
        />
        <BookingId />
        <Field label="Reason" name="reason" hint="Shown in the audit trail." maxLength={500} required />
        <Failure error={book.error} />
        <Actions text="Refund" isBusy={book.isPending} onClose={onClose} />
      </Form>
    </Dialog>
  );
}

/** An id of one's own is an invoice's, say; the proposed one makes a repeated press book once. */
function BookingId() {
  const [proposed] = useState(() => `console-${newKey().slice(0, 16)}`);
  return (
    <Field
      label="Id of the booking"
      name="id"
      defaultValue={proposed}
      hint="Booked once, however often it is sent. An invoice number fits."
      maxLength={ID_MAX}
      required
    />
  );
}

function Actions({ text, isBusy, onClose }: { text: string; isBusy: boolean; onClose: () => void }) {
  return (
    <DialogActions>
      <Button onClick={onClose}>Cancel</Button>
      <Button type="submit" look="primary" isBusy={isBusy}>
        {text}
      </Button>
    </DialogActions>
  );
}

function report({ available_usd, replayed }: Booked, done: string): void {
  const available = formatCents(readUsd(available_usd));
  showToast(
    replayed ? `Booked before; nothing changed. ${available} available.` : `${done}. ${available} available.`,
  );
}
