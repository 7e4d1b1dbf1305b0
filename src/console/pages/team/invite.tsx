import { api, call } from "../../api.ts";
import { Choice, Field } from "../../parts/field.tsx";
import { FormDialog } from "../../parts/form-dialog.tsx";
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
    <FormDialog
      title="Invite a person"
      note="The address gets a link, which is valid for 7 days and can be accepted once."
      action="Send the invitation"
      call={invite}
      onSubmit={(values) => invite.mutate(values)}
      onClose={onClose}
    >
      <Field
        label="E-mail"
        name="email"
        type="email"
        maxLength={254}
        refusal="This is no plain e-mail address."
        required
      />
      <Choice label="Role" name="role" options={ROLES} />
    </FormDialog>
  );
}
