import { SecretDialog } from "../../parts/secret-dialog.tsx";
import type { Key } from "./queries.ts";
import { SnippetTabs } from "./snippet-tabs.tsx";

interface IssuedSecretProps {
  readonly account: string;
  readonly title: string;
  readonly issued: { readonly key: Key; readonly secret: string };
  readonly onClose: () => void;
}

/** Shows the secret of a key, once, with code that uses it. */
export function IssuedSecret({ account, title, issued: { key, secret }, onClose }: IssuedSecretProps) {
  return (
    <SecretDialog
      title={title}
      note="This is the only time that the secret is shown: only its digest is stored."
      label="secret"
      secret={secret}
      onClose={onClose}
    >
      <SnippetTabs account={account} models={key.models} secret={secret} />
    </SecretDialog>
  );
}
