import { Dialog as Base } from "@base-ui/react/dialog";
import { type ReactNode, useRef, useState } from "react";
import { type ActionOptions, useAction } from "../use-action.ts";
import { Button, IconButton } from "./button.tsx";
import { classes } from "./classes.ts";
import { CodeBlock } from "./code-block.tsx";
import styles from "./dialog.module.css";
import { Failure, Field, Form, type FormValues, readForm } from "./field.tsx";
import secretStyles from "./secret-dialog.module.css";

interface DialogProps {
  readonly title: string;
  readonly note?: ReactNode;
  readonly isOpen: boolean;
  readonly onClose: () => void;
  readonly isWide?: boolean;
  /** Keeps open on a press outside, and asks before it drops what was typed: for forms and secrets. */
  readonly isKept?: boolean;
  readonly children: ReactNode;
}

const FIELD = "input:not([type=hidden]), select, textarea";
/** Copies a secret, or cancels: never does what a dialog asks about. */
const FIRST_BUTTON = "button:not(th *)";

/**
 * A window over the page. Its first field or button has the focus, which stays inside and returns to where it was. A
 * field with `autoFocus` would take it before the window knows where it was.
 */
export function Dialog({ title, note, isOpen, onClose, isWide, isKept = false, children }: DialogProps) {
  const body = useRef<HTMLDivElement>(null);
  const [loss, setLoss] = useState<"none" | "typed" | "warned">("none");
  const close = () => (isKept && loss === "typed" ? setLoss("warned") : onClose());
  // A touch would open the keyboard over the dialog.
  const focusFirst = (opener: string) => {
    const find = (selector: string) => body.current?.querySelector<HTMLElement>(selector);
    return opener === "touch" || (find(FIELD) ?? find(FIRST_BUTTON) ?? true);
  };
  return (
    <Base.Root open={isOpen} onOpenChange={(open) => open || close()} disablePointerDismissal={isKept}>
      <Base.Portal>
        <Base.Backdrop className={styles.backdrop} />
        <Base.Popup className={classes(styles.dialog, isWide && styles.wide)} initialFocus={focusFirst}>
          <div className={styles.head}>
            <Base.Title className={styles.title}>{title}</Base.Title>
            <Base.Close render={<IconButton icon="close" label="Close" size="small" />} />
          </div>
          {note && <Base.Description className={styles.note}>{note}</Base.Description>}
          <div className={styles.body} ref={body} onInput={() => setLoss("typed")}>
            {children}
          </div>
          {loss === "warned" && (
            <p className={styles.warning} role="alert">
              What you typed is not saved. Close once more to drop it.
            </p>
          )}
        </Base.Popup>
      </Base.Portal>
    </Base.Root>
  );
}

/** The buttons at the end of a dialog. */
export function DialogActions({ children }: { readonly children: ReactNode }) {
  return <div className={styles.foot}>{children}</div>;
}

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

/** The form's call and what follows it, as in {@link useAction}. `onDone` is `onClose` where nothing is shown. */
type ActionDialogProps<Result> = Omit<FormDialogProps, "call" | "onSubmit"> &
  Pick<ActionOptions<FormValues, Result>, "renews" | "done"> & {
    /** The call with the texts of the form, or with all that its fields hold. */
    readonly act: (values: FormValues, data: FormData) => Promise<Result>;
    readonly onDone?: (result: Result) => void | Promise<void>;
    /** What takes the place of the form afterwards: a secret that is shown once. */
    readonly shows?: (result: Result) => ReactNode;
  };

/** A dialog whose form calls the API with what was typed, and closes or shows a result when that has succeeded. */
export function ActionDialog<Result>(props: ActionDialogProps<Result>) {
  const { act, renews, done, shows, onDone = shows ? undefined : props.onClose, ...dialog } = props;
  const action = useAction({
    act: ({ values, data }: { readonly values: FormValues; readonly data: FormData }) => act(values, data),
    renews,
    done,
    isForm: true,
    ...(onDone && { onDone }),
  });
  const shown = action.isSuccess && shows?.(action.data);
  if (shown) return shown;
  return (
    <FormDialog
      {...dialog}
      call={action}
      onSubmit={(values, form) => action.mutate({ values, data: new FormData(form) })}
    />
  );
}

interface ConfirmProps<Result> extends Omit<ActionDialogProps<Result>, "act" | "isKept" | "children"> {
  /** What it does, and whether it can be undone. */
  readonly note: ReactNode;
  /** Asks for a reason, which the audit trail shows. */
  readonly hasReason?: boolean;
  readonly act: (reason: string) => Promise<Result>;
}

const REASON_MAX = 500;

/** Asks before a change that others notice. */
export function Confirm<Result>({ hasReason = false, act, ...props }: ConfirmProps<Result>) {
  return (
    <ActionDialog {...props} isKept={hasReason} act={({ reason = "" }) => act(reason)}>
      {hasReason && <ReasonField />}
    </ActionDialog>
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

interface SecretDialogProps {
  readonly title: string;
  readonly note: string;
  /** What is shown: "secret". */
  readonly label: string;
  readonly secret: string;
  /** What can be done with it. */
  readonly children?: ReactNode;
  readonly onClose: () => void;
}

/** Shows a secret that cannot be shown again. Escape and the cross ask before it is lost. */
export function SecretDialog({ title, note, label, secret, children, onClose }: SecretDialogProps) {
  const [isWarned, setIsWarned] = useState(false);
  return (
    <Dialog
      title={title}
      note={note}
      isOpen
      isKept
      isWide
      onClose={() => (isWarned ? onClose() : setIsWarned(true))}
    >
      <div className={secretStyles.stack}>
        <CodeBlock label={label} code={secret} isWrapped />
        {children}
        {isWarned && (
          <p className={secretStyles.warning} role="alert">
            The {label} cannot be shown again. Close once more if you have stored what you need.
          </p>
        )}
        <DialogActions>
          <Button look="primary" icon="check" onClick={onClose}>
            I have stored it
          </Button>
        </DialogActions>
      </div>
    </Dialog>
  );
}
