import { type ComponentProps, useState } from "react";
import { api, call } from "../api.ts";
import { formatCents, readUsd } from "../format.ts";
import { ACCOUNTS_KEY } from "../queries/operator.ts";
import { readLastDay } from "../times.ts";
import { readAmount } from "../typed-amount.ts";
import { newKey } from "../use-action.ts";
import { ActionDialog, type FormDialog, ReasonField } from "./dialog.tsx";
import { Field, type FormValues } from "./field.tsx";
import { showToast } from "./toast.tsx";
import { AmountField, LastDayField, readSource, SourceField } from "./typed-fields.tsx";

interface MoneyProps {
  readonly account: { readonly id: string; readonly name: string };
  readonly onClose: () => void;
}

const ID_MAX = 128;

/** Tops an account up by hand, under an id that is booked once. */
export function CreditDialog({ account, onClose }: MoneyProps) {
  return (
    <BookingDialog
      account={account}
      title={`Add credit to ${account.name}`}
      note="It is available at once, and listed among the entries of the wallet."
      action="Add credit"
      act={({ amount_usd, source, expires_at }, booking) => {
        const credit = { source: readSource(source), expires_at: readLastDay(expires_at) };
        const body = { ...booking, amount_usd: readAmount(amount_usd), ...credit };
        return call(() => api.operator.accounts({ id: account.id })["top-ups"].post(body));
      }}
      done="Credit added"
      onClose={onClose}
    >
      <AmountField required />
      <SourceField />
      <LastDayField subject="What is left of it ends" />
    </BookingDialog>
  );
}

/** Takes off what was credited by mistake. The button names the balance that it leads to. */
export function CorrectionDialog({
  account,
  onClose,
}: MoneyProps & { readonly account: { readonly available_usd: string } }) {
  const [typed, setTyped] = useState("");
  const available = readUsd(account.available_usd);
  const after = formatCents(
    available - (/^\d+(\.\d{1,9})?$/.test(readAmount(typed)) ? readUsd(readAmount(typed)) : 0n),
  );
  return (
    <BookingDialog
      account={account}
      title={`Correct the balance of ${account.name}`}
      note={`${formatCents(available)} are available now. The balance may become negative; new requests are then refused.`}
      action={`Leave ${after} available`}
      isDanger
      act={({ amount_usd, credit_id = "" }, booking) => {
        const credit = credit_id.trim() && { credit_id: credit_id.trim() };
        const body = { ...booking, amount_usd: readAmount(amount_usd), ...credit };
        return call(() => api.operator.accounts({ id: account.id }).corrections.post(body));
      }}
      done="Correction booked"
      onClose={onClose}
    >
      <AmountField
        label="USD to take off"
        required
        onChange={({ currentTarget }) => setTyped(currentTarget.value)}
      />
      <Field
        label="Credit"
        name="credit_id"
        hint="The id of the top-up to take it from first. Empty: in the order of spending."
        maxLength={ID_MAX}
        autoComplete="off"
        spellCheck={false}
        isOptional
      />
    </BookingDialog>
  );
}

/** Gives the charge of one request back, or a part of it. */
export function RefundDialog({ account, onClose }: MoneyProps) {
  return (
    <BookingDialog
      account={account}
      title={`Refund a request of ${account.name}`}
      note="The money returns to the wallet at once."
      action="Refund"
      act={({ receipt = "", amount_usd }, booking) => {
        const amount = readAmount(amount_usd);
        const body = { ...booking, receipt: receipt.trim(), ...(amount && { amount_usd: amount }) };
        return call(() => api.operator.accounts({ id: account.id }).refunds.post(body));
      }}
      done="Refund booked"
      onClose={onClose}
    >
      <Field
        label="Request id"
        name="receipt"
        hint="The id of its receipt: answers carry it as x-request-id."
        autoComplete="off"
        spellCheck={false}
        required
      />
      <AmountField hint="Empty gives the whole charge back." isOptional />
    </BookingDialog>
  );
}

interface Booked {
  readonly available_usd: string;
  readonly replayed: boolean;
}

interface BookingProps extends MoneyProps, Omit<ComponentProps<typeof FormDialog>, "call" | "onSubmit"> {
  /** Sends the values of the form, with the id of the booking and its reason. */
  readonly act: (
    values: FormValues,
    booking: { readonly id: string; readonly reason: string },
  ) => Promise<Booked>;
  readonly done: string;
}

/** A booking: afterwards, the account's figures are read again and a toast shows what is available. */
function BookingDialog({ account, act, done, children, ...dialog }: BookingProps) {
  return (
    <ActionDialog
      {...dialog}
      act={(values) => act(values, { id: values.id?.trim() ?? "", reason: values.reason ?? "" })}
      renews={[ACCOUNTS_KEY, ["account", account.id]]}
      onDone={({ available_usd, replayed }) => {
        const available = `${formatCents(readUsd(available_usd))} available.`;
        showToast(
          replayed ? `This id was booked before: nothing changed. ${available}` : `${done}: ${available}`,
        );
        dialog.onClose();
      }}
    >
      {children}
      <ReasonField />
      <BookingId />
    </ActionDialog>
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
      autoComplete="off"
      spellCheck={false}
      required
    />
  );
}
