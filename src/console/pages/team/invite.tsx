import { useQuery } from "@tanstack/react-query";
import { api, call } from "../../api.ts";
import { Choice, Field } from "../../parts/field.tsx";
import { FormDialog } from "../../parts/form-dialog.tsx";
import { showToast } from "../../parts/toast.tsx";
import { setupQuery, useAccount } from "../../session.ts";
import { useAction } from "../../use-action.ts";
import { InvitationLink } from "./invitation-link.tsx";
import { invitationsQuery, ROLES, readRole } from "./queries.ts";

/** Sends an invitation by mail, or shows its link once where no mail can be sent. */
export function Invite({ account, onClose }: { readonly account: string; readonly onClose: () => void }) {
  const { data: setup } = useQuery(setupQuery);
  const { role: ownRole } = useAccount();
  const invite = useAction({
    act: ({ email = "", role }: Readonly<Record<string, string>>) =>
      call(() => api.accounts({ account }).invitations.post({ email, role: readRole(role) })),
    renews: [invitationsQuery(account).queryKey],
    isForm: true,
    onDone: ({ link }) => {
      if (link !== null) return;
      showToast("Invitation sent");
      onClose();
    },
  });
  if (invite.data?.link) return <InvitationLink link={invite.data.link} onClose={onClose} />;
  const isMailed = setup?.has_mail !== false;
  return (
    <FormDialog
      title="Invite a person"
      note={`${whoGets(isMailed, ownRole)}, which is valid for 7 days and can be accepted once.`}
      action={isMailed ? "Send the invitation" : "Invite"}
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

function whoGets(isMailed: boolean, ownRole: string): string {
  if (isMailed) return "The address gets a link";
  // An acting operator sees no secret of the account.
  if (ownRole === "acting") return "This server sends no mail: its log gets a link";
  return "This server sends no mail: you get a link to pass on";
}
