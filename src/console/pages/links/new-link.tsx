import { useQuery } from "@tanstack/react-query";
import { api, call } from "../../api.ts";
import { Choice } from "../../parts/field.tsx";
import { FormDialog } from "../../parts/form-dialog.tsx";
import { SecretDialog } from "../../parts/secret-dialog.tsx";
import { useAction } from "../../use-action.ts";
import { keyNamesQuery } from "../overview/queries.ts";

interface NewLinkProps {
  readonly account: string;
  readonly queryKey: readonly string[];
  readonly onClose: () => void;
}

const DAY_MS = 86_400_000;
const LIVES = [
  { value: "1", text: "a day" },
  { value: "7", text: "a week" },
  { value: "30", text: "30 days" },
  { value: "90", text: "90 days" },
] as const;

/** Creates a link, then shows it once. */
export function NewLink({ account, queryKey, onClose }: NewLinkProps) {
  const { data: keys } = useQuery(keyNamesQuery(account));
  const create = useAction({
    act: ({ key = "", names, days }: Readonly<Record<string, string>>) =>
      call(() =>
        api.accounts({ account }).links.post({
          ...(key !== "" && { key }),
          shows_names: names === "yes",
          expires_at: new Date(Date.now() + Number(days) * DAY_MS).toISOString(),
        }),
      ),
    renews: [queryKey],
    isForm: true,
  });
  if (create.data) {
    return (
      <SecretDialog
        title="The link is ready"
        note="This is the only time that the link is shown: only its digest is stored."
        label="link"
        secret={create.data.url}
        onClose={onClose}
      />
    );
  }
  return (
    <FormDialog
      title="Create a shared link"
      note="Whoever has it reads usage of the last 30 days. It can be revoked."
      action="Create"
      call={create}
      onSubmit={(values) => create.mutate(values)}
      onClose={onClose}
    >
      <Choice
        label="Shows"
        name="key"
        options={[
          { value: "", text: "the whole account" },
          ...(keys?.items ?? []).map(({ id, name }) => ({ value: id, text: `the key ${name}` })),
        ]}
      />
      <Choice
        label="Names of account and keys"
        name="names"
        options={[
          { value: "no", text: "hidden" },
          { value: "yes", text: "shown" },
        ]}
      />
      <Choice label="Expires after" name="days" defaultValue="7" options={LIVES} />
    </FormDialog>
  );
}
