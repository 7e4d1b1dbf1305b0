import { useState } from "react";
import { api, call } from "../../api.ts";
import { useIdempotencyKey } from "../../idempotency-key.ts";
import { Button } from "../../parts/button.tsx";
import { Dialog, DialogActions } from "../../parts/dialog.tsx";
import { Failure, Field, Form } from "../../parts/field.tsx";
import { useAction } from "../../use-action.ts";
import { IssuedSecret } from "../keys/issued-secret.tsx";
import type { Key } from "../keys/queries.ts";

interface EndKeyProps {
  readonly account: string;
  readonly shown: Key;
  readonly onClose: () => void;
}

/** Gives the key a new secret. The old one works for 24 hours more. */
export function RotateKey({ account, shown, onClose }: EndKeyProps) {
  const headersFor = useIdempotencyKey();
  const rotate = useAction({
    act: () => {
      const body = { version: shown.version };
      const headers = headersFor(body);
      return call(() => api.accounts({ account }).keys({ key: shown.id }).rotate.post(body, { headers }));
    },
    renews: [["account", account, "keys"]],
    isForm: true,
  });
  if (rotate.data) {
    const title = `New secret of “${shown.name}”`;
    return <IssuedSecret account={account} title={title} issued={rotate.data} onClose={onClose} />;
  }
  return (
    <Dialog
      title={`Rotate “${shown.name}”?`}
      note="The key gets a new secret. The old one works for 24 hours more, so that clients can change over."
      isOpen
      onClose={onClose}
    >
      <Failure error={rotate.error} />
      <DialogActions>
        <Button onClick={onClose}>Cancel</Button>
        <Button look="primary" isBusy={rotate.isPending} onClick={() => rotate.mutate()}>
          Rotate
        </Button>
      </DialogActions>
    </Dialog>
  );
}

/** Revokes the key, once its name is typed. */
export function RevokeKey({ account, shown, onClose }: EndKeyProps) {
  const [typed, setTyped] = useState("");
  const revoke = useAction({
    act: () => call(() => api.accounts({ account }).keys({ key: shown.id }).revoke.post()),
    renews: [["account", account, "keys"]],
    done: "Key revoked",
    isForm: true,
    onDone: onClose,
  });
  const isSure = typed.trim() === shown.name.trim();
  return (
    <Dialog
      title={`Revoke “${shown.name}”?`}
      note="Every request with it is refused from now on. This cannot be undone."
      isOpen
      onClose={onClose}
    >
      <Form
        onSubmit={(event) => {
          event.preventDefault();
          if (isSure) revoke.mutate();
        }}
      >
        <Field
          label={`Type “${shown.name}” to confirm`}
          value={typed}
          onChange={({ currentTarget }) => setTyped(currentTarget.value)}
          autoComplete="off"
        />
        <Failure error={revoke.error} />
        <DialogActions>
          <Button onClick={onClose}>Cancel</Button>
          <Button type="submit" look="danger" disabled={!isSure || revoke.isPending}>
            Revoke
          </Button>
        </DialogActions>
      </Form>
    </Dialog>
  );
}
