import { SecretDialog } from "../../parts/secret-dialog.tsx";

interface InvitationLinkProps {
  readonly link: string;
  readonly onClose: () => void;
}

/** Shows the link of an invitation once, to the inviter of a server that sends no mail. */
export function InvitationLink({ link, onClose }: InvitationLinkProps) {
  return (
    <SecretDialog
      title="Pass this link on"
      note="This server sends no mail. Only the invited address can accept, for 7 days. The link is shown this once."
      label="link"
      secret={link}
      onClose={onClose}
    />
  );
}
