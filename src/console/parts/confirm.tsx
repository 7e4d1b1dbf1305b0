import type { ReactNode } from "react";
import { readForm } from "../form-values.ts";
import { Button } from "./button.tsx";
import { Dialog, DialogActions } from "./dialog.tsx";
import { Failure, Field, Form } from "./field.tsx";

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
export function Confirm(props: ConfirmProps) {
  const { title, note, action, isDanger = false, hasReason = false, call, onConfirm, onClose } = props;
  return (
    <Dialog title={title} note={note} isOpen onClose={onClose}>
      <Form onSubmit={(event) => onConfirm(readForm(event).reason ?? "")}>
        {hasReason && (
          <Field
            label="Reason"
            name="reason"
            hint="Shown in the audit trail."
            maxLength={REASON_MAX}
            required
            autoFocus
          />
        )}
        <Failure error={call.error} />
        <DialogActions>
          <Button onClick={onClose}>Cancel</Button>
          <Button type="submit" look={isDanger ? "danger" : "primary"} isBusy={call.isPending}>
            {action}
          </Button>
        </DialogActions>
      </Form>
    </Dialog>
  );
}
