import { useQuery } from "@tanstack/react-query";
import { CodeBlock } from "../../parts/code-block.tsx";
import { Choice, Field } from "../../parts/field.tsx";
import { FormDialog } from "../../parts/form-dialog.tsx";
import { SecretDialog } from "../../parts/secret-dialog.tsx";
import { LastDayField } from "../../parts/typed-fields.tsx";
import { ROLES } from "../../queries/team.ts";
import { setupQuery } from "../../session.ts";
import { useAction } from "../../use-action.ts";

interface NewManagementKeyProps {
  /** Sends the values of the form: `name`, `role` and `expires_at`, a day or "". */
  readonly create: (values: Readonly<Record<string, string>>) => Promise<{ readonly secret: string }>;
  readonly queryKey: readonly string[];
  /** Keys of the platform have one role. */
  readonly hasRoles: boolean;
  /** A path of the API that the key may read: "/operator/accounts". */
  readonly path: string;
  readonly onClose: () => void;
}

/** Creates a management key, then shows its secret once. */
export function NewManagementKey({ create, queryKey, hasRoles, path, onClose }: NewManagementKeyProps) {
  const { data: setup } = useQuery(setupQuery);
  const issue = useAction({ act: create, renews: [queryKey], isForm: true });
  if (issue.data) {
    return (
      <SecretDialog
        title="The management key is ready"
        note="This is the only time that the secret is shown: only its digest is stored."
        label="secret"
        secret={issue.data.secret}
        onClose={onClose}
      >
        <CodeBlock
          label="curl command"
          code={printCurl({ origin: setup?.public_url ?? location.origin, path, secret: issue.data.secret })}
        />
      </SecretDialog>
    );
  }
  return (
    <FormDialog
      title="Create a management key"
      note="It opens the console's API, and never a model."
      action="Create"
      call={issue}
      onSubmit={(values) => issue.mutate(values)}
      onClose={onClose}
    >
      <Field label="Name" name="name" maxLength={100} required />
      {hasRoles && <Choice label="Role" name="role" options={ROLES} />}
      <LastDayField subject="The key expires" />
    </FormDialog>
  );
}

/** A first call of the console's API. */
function printCurl({ origin, path, secret }: Readonly<Record<"origin" | "path" | "secret", string>>): string {
  return `curl ${origin}/console/api${path} \\\n  -H "authorization: Bearer ${secret}"`;
}
