import { useMutation } from "@tanstack/react-query";
import type { FormEvent } from "react";
import { api, call } from "../api.ts";
import { Button } from "../parts/button.tsx";
import { Dialog, DialogActions } from "../parts/dialog.tsx";
import { Failure, Field, Form } from "../parts/field.tsx";
import { useMe } from "../session.ts";

interface ConfirmPasswordDialogProps {
  readonly onEnd: (isConfirmed: boolean) => void;
}

/** Asks for the password before a step that needs one given in the last 15 minutes. */
export function ConfirmPasswordDialog({ onEnd }: ConfirmPasswordDialogProps) {
  const { person } = useMe();
  const confirm = useMutation({
    mutationFn: (password: string) => call(() => api.me.confirm.post({ password })),
    onSuccess: () => onEnd(true),
  });
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    confirm.mutate(String(new FormData(event.currentTarget).get("password")));
  };
  return (
    <Dialog
      title="Confirm your password"
      note="This step asks for a password that was given in the last 15 minutes."
      isOpen
      onClose={() => onEnd(false)}
    >
      <Form onSubmit={submit}>
        <Failure error={confirm.error} />
        <input type="hidden" name="username" autoComplete="username" value={person.email} readOnly />
        <Field label="Password" name="password" type="password" autoComplete="current-password" required />
        <DialogActions>
          <Button onClick={() => onEnd(false)}>Cancel</Button>
          <Button type="submit" look="primary" isBusy={confirm.isPending}>
            Confirm
          </Button>
        </DialogActions>
      </Form>
    </Dialog>
  );
}
