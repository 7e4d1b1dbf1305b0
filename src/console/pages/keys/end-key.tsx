import { useState } from "react";
import { api, call } from "../../api.ts";
import { ActionDialog, Confirm } from "../../parts/dialog.tsx";
import { Field } from "../../parts/field.tsx";
import type { Key } from "../../queries/keys.ts";
import { useIdempotencyKey } from "../../use-action.ts";
import { IssuedSecret } from "./snippet-tabs.tsx";

interface EndKeyProps {
  readonly account: string;
  readonly shown: Key;
  readonly onClose: () => void;
}

/** Gives the key a new secret. The old one works for 24 hours more. */
export function RotateKey({ account, shown, onClose }: EndKeyProps) {
  const headersFor = useIdempotencyKey();
  const title = `New secret of “${shown.name}”`;
  return (
    <ActionDialog
      title={`Rotate “${shown.name}”?`}
      note="The key gets a new secret. The old one works for 24 hours more, so that clients can change over."
      action="Rotate"
      isKept={false}
      act={() => {
        const body = { version: shown.version };
        const headers = headersFor(body);
        return call(() => api.accounts({ account }).keys({ key: shown.id }).rotate.post(body, { headers }));
      }}
      renews={[["account", account, "keys"]]}
      shows={(issued) => <IssuedSecret account={account} title={title} issued={issued} onClose={onClose} />}
      onClose={onClose}
    />
  );
}

/** Ends the secret that the latest rotation replaced, before its 24 hours are over. */
export function EndPrevious({ account, shown, onClose }: EndKeyProps) {
  return (
    <Confirm
      title="End the old secret now?"
      note={
        <>
          Requests with <code>{shown.previous?.hint}</code> are refused from now on; those that run go on. The
          new secret stays.
        </>
      }
      action="End it now"
      isDanger
      act={() =>
        call(() =>
          api.accounts({ account }).keys({ key: shown.id })["end-previous"].post({ version: shown.version }),
        )
      }
      renews={[["account", account, "keys"]]}
      done="Old secret ended"
      onClose={onClose}
    />
  );
}

/** Revokes the key, once its name is typed. */
export function RevokeKey({ account, shown, onClose }: EndKeyProps) {
  const [typed, setTyped] = useState("");
  const isSure = typed.trim() === shown.name.trim();
  return (
    <ActionDialog
      title={`Revoke “${shown.name}”?`}
      note="Every request with it is refused from now on. This cannot be undone."
      action="Revoke"
      isDanger
      isBlocked={!isSure}
      act={() => call(() => api.accounts({ account }).keys({ key: shown.id }).revoke.post())}
      renews={[["account", account, "keys"]]}
      done="Key revoked"
      onClose={onClose}
    >
      <Field
        label={`Type “${shown.name}” to confirm`}
        value={typed}
        onChange={({ currentTarget }) => setTyped(currentTarget.value)}
        autoComplete="off"
      />
    </ActionDialog>
  );
}
