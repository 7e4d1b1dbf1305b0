import { useState } from "react";
import { api, call } from "../../api.ts";
import { plural } from "../../format.ts";
import { Button } from "../../parts/button.tsx";
import { ActionDialog } from "../../parts/dialog.tsx";
import { Field } from "../../parts/field.tsx";
import { Panel } from "../../parts/panel.tsx";
import { showToast } from "../../parts/toast.tsx";
import { useMay } from "../../session.ts";

/** Replaces the name of one end user on all receipts, for people who ask for it. */
export function ForgetUser({ account }: { readonly account: string }) {
  const mayForget = useMay("account.write");
  const [isOpen, setIsOpen] = useState(false);
  if (!mayForget) return null;
  return (
    <Panel
      title="Forget an end user"
      note="The name on receipts becomes a pseudonym. Charges and sums stay as they are."
    >
      <Button look="danger" onClick={() => setIsOpen(true)}>
        Forget…
      </Button>
      {isOpen && <ForgetDialog account={account} onClose={() => setIsOpen(false)} />}
    </Panel>
  );
}

interface ForgetDialogProps {
  readonly account: string;
  readonly onClose: () => void;
}

function ForgetDialog({ account, onClose }: ForgetDialogProps) {
  return (
    <ActionDialog
      title="Forget an end user"
      note="This cannot be undone: nobody can tell afterwards whose receipts they were."
      action="Forget"
      isDanger
      act={({ end_user = "" }) => call(() => api.accounts({ account }).attribution.forget.post({ end_user }))}
      renews={[["account", account]]}
      onDone={({ receipts, running }) => {
        const later = running > 0 ? ` ${plural(running, "running request")} kept it: try again later.` : "";
        showToast(`Forgotten on ${plural(receipts, "receipt")}.${later}`);
        onClose();
      }}
      onClose={onClose}
    >
      <Field
        label="End user"
        name="end_user"
        hint="The text that requests sent, exactly."
        maxLength={1024}
        autoComplete="off"
        required
      />
    </ActionDialog>
  );
}
