import { useState } from "react";
import { api, call } from "../../api.ts";
import { plural } from "../../format.ts";
import { Badge } from "../../parts/badge.tsx";
import { Button } from "../../parts/button.tsx";
import { Confirm, Dialog } from "../../parts/dialog.tsx";
import { Panel } from "../../parts/panel.tsx";
import { RecoveryCodes, SetUpSecondFactor } from "../../parts/set-up-second-factor.tsx";
import { type SignInWays, signInWaysQuery } from "../../queries/sign-in-ways.ts";
import { useAction } from "../../use-action.ts";

const KEY = signInWaysQuery().queryKey;

/** Codes of an authenticator app beside the password. */
export function SecondFactor({ ways }: { readonly ways: SignInWays }) {
  const [open, setOpen] = useState<"set-up" | "remove">();
  const renew = useAction({
    act: () => call(() => api.me["second-factor"]["recovery-codes"].post()),
    renews: [KEY],
  });
  const { second_factor: factor, second_factor_required: isRequired } = ways;
  const close = () => setOpen(undefined);
  return (
    <Panel
      title="Second factor"
      note="A code of an authenticator app, asked for beside your password."
      actions={
        factor ? (
          <>
            <Button isBusy={renew.isPending} onClick={() => renew.mutate()}>
              New recovery codes
            </Button>
            {!isRequired && (
              <Button look="danger" onClick={() => setOpen("remove")}>
                Turn off
              </Button>
            )}
          </>
        ) : (
          <Button onClick={() => setOpen("set-up")}>Set up</Button>
        )
      }
    >
      {factor ? (
        <p>
          <Badge tone="good">On</Badge>{" "}
          {plural(factor.recovery_codes, "recovery code is", "recovery codes are")} left.
        </p>
      ) : (
        <p>Off: your password alone signs you in.</p>
      )}
      {open === "set-up" && (
        <Dialog title="Set up a second factor" isOpen isKept onClose={close}>
          <SetUpSecondFactor onDone={close} />
        </Dialog>
      )}
      {open === "remove" && <RemoveSecondFactor onClose={close} />}
      {renew.data && (
        <Dialog title="New recovery codes" isOpen isKept onClose={renew.reset}>
          <RecoveryCodes codes={renew.data.recovery_codes} onClose={renew.reset} />
        </Dialog>
      )}
    </Panel>
  );
}

function RemoveSecondFactor({ onClose }: { readonly onClose: () => void }) {
  return (
    <Confirm
      title="Turn the second factor off?"
      note="Your password alone signs you in then. The recovery codes end."
      action="Turn off"
      isDanger
      act={() => call(() => api.me["second-factor"].delete())}
      renews={[KEY]}
      done="Second factor turned off"
      onClose={onClose}
    />
  );
}
