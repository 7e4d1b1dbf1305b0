import type { ReactNode } from "react";
import { Field } from "./field.tsx";
import { FormDialog } from "./form-dialog.tsx";

interface ConfirmProps {
  readonly title: string;
  /** What it does, and whether it can be undone. */
  readonly note: ReactNode;
  /** Text of the button that does it: "Suspend". */
  readonly action: string;
  readonly isDanger?: boolean;
  /** Asks for a reason, which the audit trail shows. */
  readonly hasReason?: boolean;
  /** The running call. */
  readonly call: { readonly isPending: boolean; readonly error: unknown };
  readonly onConfirm: (reason: string) => void;
  readonly onClose: () => void;
}

const REASON_MAX = 500;

/** Asks before a change that others notice. */
export function Confirm({ hasReason = false, onConfirm, ...props }: ConfirmProps) {
  return (
    <FormDialog {...props} isKept={hasReason} onSubmit={({ reason = "" }) => onConfirm(reason)}>
      {hasReason && <ReasonField />}
    </FormDialog>
  );
}

/** Asks why an operator does something. */
export function ReasonField() {
  return (
    <Field
      label="Reason"
      name="reason"
      hint="Shown in the audit trail."
      maxLength={REASON_MAX}
      autoComplete="off"
      required
    />
  );
}
