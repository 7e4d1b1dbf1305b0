import { useQuery } from "@tanstack/react-query";
import type { ClientFacts } from "../../../clients/client.ts";
import { printSnippets } from "../../../clients/clients.ts";
import { SecretDialog } from "../../parts/dialog.tsx";
import { Snippets } from "../../parts/snippets.tsx";
import type { Key } from "../../queries/keys.ts";
import { catalogQuery, isChat, type ModelRow } from "../../queries/overview.ts";
import { setupQuery } from "../../session.ts";

interface SnippetTabsProps {
  readonly account: string;
  /** The models that the key may use; `null` for all. */
  readonly models: Key["models"];
  readonly secret?: string | undefined;
}

/** Settings for every client, with the gateway's address and the models that the key may use. */
export function SnippetTabs({ account, models, secret }: SnippetTabsProps) {
  const { data: setup } = useQuery(setupQuery);
  const { data: catalog } = useQuery(catalogQuery(account));
  const url = setup?.public_url ?? location.origin;
  const snippets = printSnippets({ url, models: chooseModels(catalog?.items ?? [], models), secret });
  return (
    <Snippets
      snippets={snippets}
      {...(secret === undefined && { note: "TOLLGATE_KEY holds the secret of this key." })}
    />
  );
}

/** What the settings show before the catalog is read, or for a key without a model that answers chats. */
const UNKNOWN_MODEL = { contextWindow: 128_000, outputTokensMax: 16_000 };

/** The models that answer chats and that the key may use. */
function chooseModels(catalog: readonly ModelRow[], allowed: Key["models"]): ClientFacts["models"] {
  const [first, ...others] = catalog
    .filter((model) => isChat(model) && (allowed?.includes(model.id) ?? true))
    .map(({ id, context_window, max_output_tokens }) => ({
      id,
      contextWindow: context_window,
      outputTokensMax: max_output_tokens,
    }));
  return first ? [first, ...others] : [{ id: allowed?.[0] ?? "demo", ...UNKNOWN_MODEL }];
}

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
