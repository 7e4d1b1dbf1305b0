import { api, call } from "../../api.ts";
import { readForm } from "../../form-values.ts";
import { Button } from "../../parts/button.tsx";
import { Dialog, DialogActions } from "../../parts/dialog.tsx";
import { Choice, Failure, Field, Form } from "../../parts/field.tsx";
import { useAction } from "../../use-action.ts";
import { invitationsQuery, ROLES, readRole } from "./queries.ts";

/** Sends an invitation by mail. */
export function Invite({ account, onClose }: { readonly account: string; readonly onClose: () => void }) {
  const invite = useAction({
    act: ({ email = "", role }: Readonly<Record<string, string>>) =>
      call(() => api.accounts({ account }).invitations.post({ email, role: readRole(role) })),
    renews: [invitationsQuery(account).queryKey],
    done: "Invitation sent",
    isForm: true,
    onDone: onClose,
  });
  return (
    <Dialog
      title="Invite a person"
      note="The address gets a link, which is valid for 7 days and can be accepted once."
      isOpen
      isKept
      onClose={onClose}
    >
      <Form onSubmit={(event) => invite.mutate(readForm(event))}>
        <Field label="E-mail" name="email" type="email" maxLength={254} required autoFocus />
        <Choice label="Role" name="role" options={ROLES} />
        <Failure error={invite.error} />
        <DialogActions>
          <Button onClick={onClose}>Cancel</Button>
          <Button type="submit" look="primary" isBusy={invite.isPending}>
            Send the invitation
          </Button>
        </DialogActions>
      </Form>
    </Dialog>
  );
}
