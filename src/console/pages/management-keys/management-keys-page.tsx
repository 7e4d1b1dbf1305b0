import { useQuery } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import { type ComponentProps, useState } from "react";
import { api, call } from "../../api.ts";
import { Button } from "../../parts/button.tsx";
import { CodeBlock } from "../../parts/code-block.tsx";
import { ActionDialog, SecretDialog } from "../../parts/dialog.tsx";
import { Choice, Field, type FormValues } from "../../parts/field.tsx";
import { PageHeader } from "../../parts/page-header.tsx";
import styles from "../../parts/stack.module.css";
import { LastDayField } from "../../parts/typed-fields.tsx";
import { managementKeysQuery, ROLES, readRole } from "../../queries/account.ts";
import { platformKeysQuery } from "../../queries/operator.ts";
import { setupQuery, useMay } from "../../session.ts";
import { readLastDay } from "../../times.ts";
import { useIdempotencyKey } from "../../use-action.ts";
import { KeysTable } from "./keys-table.tsx";

const route = getRouteApi("/shell/accounts/$account/management-keys");

/** Keys of the account for programs. */
export function ManagementKeysPage() {
  const { account } = route.useParams();
  const mayWrite = useMay("management_keys.write");
  const headersFor = useIdempotencyKey();
  const keys = api.accounts({ account })["management-keys"];
  const create = ({ name = "", role, expires_at }: FormValues) => {
    const body = { name, role: readRole(role), expires_at: readLastDay(expires_at) };
    return call(() => keys.post(body, { headers: headersFor(body) }));
  };
  return (
    <KeysView
      title="Management keys"
      note="For programs: each opens the console's API inside this account, with a role."
      list={useQuery(managementKeysQuery(account))}
      queryKey={managementKeysQuery(account).queryKey}
      mayCreate={mayWrite}
      create={create}
      revoke={mayWrite ? (key) => call(() => keys({ key }).delete()) : undefined}
      hasRoles
      path={`/accounts/${account}/keys`}
    />
  );
}

/** Keys of operators for programs. */
export function OperatorManagementKeysPage() {
  const headersFor = useIdempotencyKey();
  const keys = api.operator["management-keys"];
  const create = ({ name = "", expires_at }: FormValues) => {
    const body = { name, expires_at: readLastDay(expires_at) };
    return call(() => keys.post(body, { headers: headersFor(body) }));
  };
  return (
    <KeysView
      title="Management keys of the platform"
      note="For programs: each may do what an operator may."
      list={useQuery(platformKeysQuery())}
      queryKey={platformKeysQuery().queryKey}
      mayCreate
      create={create}
      revoke={(key) => call(() => keys({ key }).delete())}
      hasRoles={false}
      path="/operator/accounts"
    />
  );
}

type KeysViewProps = ComponentProps<typeof KeysTable> &
  Omit<ComponentProps<typeof NewManagementKey>, "onClose"> & {
    readonly title: string;
    readonly note: string;
    readonly mayCreate: boolean;
  };

function KeysView({ title, note, list, mayCreate, revoke, ...creation }: KeysViewProps) {
  const [isCreating, setIsCreating] = useState(false);
  return (
    <div className={styles.page}>
      <PageHeader title={title} note={note}>
        {mayCreate && (
          <Button icon="plus" look="primary" onClick={() => setIsCreating(true)}>
            Create key
          </Button>
        )}
      </PageHeader>
      <KeysTable list={list} queryKey={creation.queryKey} revoke={revoke} />
      {isCreating && <NewManagementKey {...creation} onClose={() => setIsCreating(false)} />}
    </div>
  );
}

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
function NewManagementKey({ create, queryKey, hasRoles, path, onClose }: NewManagementKeyProps) {
  const { data: setup } = useQuery(setupQuery);
  return (
    <ActionDialog
      title="Create a management key"
      note="It opens the console's API, and never a model."
      action="Create key"
      act={create}
      renews={[queryKey]}
      shows={({ secret }) => (
        <SecretDialog
          title="The management key is ready"
          note="This is the only time that the secret is shown: only its digest is stored."
          label="secret"
          secret={secret}
          onClose={onClose}
        >
          <CodeBlock
            label="curl command"
            code={printCurl({ origin: setup?.public_url ?? location.origin, path, secret })}
          />
        </SecretDialog>
      )}
      onClose={onClose}
    >
      <Field label="Name" name="name" maxLength={100} required />
      {hasRoles && <Choice label="Role" name="role" options={ROLES} />}
      <LastDayField subject="The key expires" />
    </ActionDialog>
  );
}

/** A first call of the console's API. */
function printCurl({ origin, path, secret }: Readonly<Record<"origin" | "path" | "secret", string>>): string {
  return `curl ${origin}/console/api${path} \\\n  -H "authorization: Bearer ${secret}"`;
}
