import { useMutation, useQuery } from "@tanstack/react-query";
import type { FormEvent } from "react";
import { api, call } from "../api.ts";
import { Button } from "../parts/button.tsx";
import { Dialog, DialogActions } from "../parts/dialog.tsx";
import { Failure, Field, Form } from "../parts/field.tsx";
import { Skeleton } from "../parts/loaded.tsx";
import { CodeField } from "../parts/typed-fields.tsx";
import { confirmByPasskey } from "../passkeys.ts";
import { proveAtProvider } from "../proofs.ts";
import {
  asksForCode,
  describeProblem,
  explainRefusal,
  type SignInWays,
  signInWaysQuery,
} from "../queries/sign-in-ways.ts";
import { useMe } from "../session.ts";

interface ConfirmPasswordDialogProps {
  readonly onEnd: (isConfirmed: boolean) => void;
}

/** Asks for a fresh proof before a step that needs one of the last 15 minutes. */
export function ConfirmPasswordDialog({ onEnd }: ConfirmPasswordDialogProps) {
  const { data: ways } = useQuery(signInWaysQuery());
  const hasPassword = ways ? ways.password && ways.own_proof_accepted : true;
  return (
    <Dialog
      title={hasPassword ? "Confirm your password" : "Confirm that it is you"}
      note={
        hasPassword
          ? "This step asks for a password that was given in the last 15 minutes."
          : "This step asks for a proof of the last 15 minutes."
      }
      isOpen
      onClose={() => onEnd(false)}
    >
      {ways ? <Ways ways={ways} onEnd={onEnd} /> : <Skeleton lines={2} />}
    </Dialog>
  );
}

function Ways({ ways, onEnd }: ConfirmPasswordDialogProps & { readonly ways: SignInWays }) {
  const passkey = useMutation({ mutationFn: confirmByPasskey, onSuccess: () => onEnd(true) });
  const atProvider = useMutation({
    mutationFn: async (provider: string) => {
      const problem = await proveAtProvider(provider);
      if (problem !== "") throw new Error(describeProblem(problem));
    },
    onSuccess: () => onEnd(true),
  });
  const hasPassword = ways.password && ways.own_proof_accepted;
  const linked = ways.providers.filter(({ id }) => ways.identities.some(({ provider }) => provider === id));
  return (
    <>
      <Failure error={passkey.error ?? atProvider.error} />
      {hasPassword && <PasswordForm onEnd={onEnd} />}
      <DialogActions>
        {!hasPassword && <Button onClick={() => onEnd(false)}>Cancel</Button>}
        {ways.own_proof_accepted && ways.passkeys.length > 0 && (
          <Button icon="key" isBusy={passkey.isPending} onClick={() => passkey.mutate()}>
            Use a passkey
          </Button>
        )}
        {linked.map(({ id, name }) => (
          <Button
            key={id}
            isBusy={atProvider.isPending && atProvider.variables === id}
            onClick={() => atProvider.mutate(id)}
          >{`Confirm at ${name}`}</Button>
        ))}
      </DialogActions>
    </>
  );
}

function PasswordForm({ onEnd }: ConfirmPasswordDialogProps) {
  const { person } = useMe();
  const confirm = useMutation({
    mutationFn: (given: { password: string; code?: string }) => call(() => api.me.confirm.post(given)),
    onSuccess: () => onEnd(true),
  });
  const wantsCode = asksForCode(confirm.error) || confirm.variables?.code !== undefined;
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const given = new FormData(event.currentTarget);
    const code = given.get("code");
    confirm.mutate({ password: String(given.get("password")), ...(code ? { code: String(code) } : {}) });
  };
  return (
    <Form onSubmit={submit}>
      <Failure error={explainRefusal(confirm.error)} />
      <input type="hidden" name="username" autoComplete="username" value={person.email} readOnly />
      <Field label="Password" name="password" type="password" autoComplete="current-password" required />
      {wantsCode && <CodeField />}
      <DialogActions>
        <Button onClick={() => onEnd(false)}>Cancel</Button>
        <Button type="submit" look="primary" isBusy={confirm.isPending}>
          Confirm
        </Button>
      </DialogActions>
    </Form>
  );
}
