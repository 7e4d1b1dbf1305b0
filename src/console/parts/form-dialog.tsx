import type { ReactNode } from "react";
import { Button } from "./button.tsx";
import { Dialog, DialogActions } from "./dialog.tsx";
import { Failure, Field, Form, type FormValues, readForm } from "./field.tsx";

interface FormDialogProps {
  readonly title: string;
  readonly note?: ReactNode;
  /** Text of the button that sends the form: "Create". */
  readonly action: string;
  readonly isDanger?: boolean;
  readonly isWide?: boolean;
  /** Stays open on a press outside, so that what was typed is not lost. Default: true. */
  readonly isKept?: boolean;
  /** Whether the form may not be sent yet. */
  readonly isBlocked?: boolean;
  /** The running call. A value that it refuses is marked at the field of its name. */
  readonly call: { readonly isPending: boolean; readonly error: unknown };
  readonly onSubmit: (values: FormValues, form: HTMLFormElement) => void;
  readonly onClose: () => void;
  readonly children?: ReactNode;
}

/** A dialog with one form: fields, the failure of its call, Cancel, and the button that sends it. */
export function FormDialog(props: FormDialogProps) {
  const { title, note, action, call, isDanger = false, isWide, isKept = true, onClose, children } = props;
  return (
    <Dialog title={title} note={note} isOpen isKept={isKept} isWide={isWide ?? false} onClose={onClose}>
      <Form error={call.error} onSubmit={(event) => props.onSubmit(readForm(event), event.currentTarget)}>
        {children}
        <Failure error={call.error} />
        <DialogActions>
          <Button onClick={onClose}>Cancel</Button>
          <Button
            type="submit"
            look={isDanger ? "danger" : "primary"}
            isBusy={call.isPending}
            disabled={props.isBlocked ?? false}
          >
            {action}
          </Button>
        </DialogActions>
      </Form>
    </Dialog>
  );
}

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
