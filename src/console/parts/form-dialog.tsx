import type { ReactNode } from "react";
import { type FormValues, readForm } from "../form-values.ts";
import { Button } from "./button.tsx";
import { Dialog, DialogActions } from "./dialog.tsx";
import { Failure, Form } from "./field.tsx";

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
