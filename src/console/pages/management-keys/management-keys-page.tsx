import { useQuery } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import { useState } from "react";
import { api, call } from "../../api.ts";
import { Button } from "../../parts/button.tsx";
import { PageHeader } from "../../parts/page-header.tsx";
import styles from "../../parts/stack.module.css";
import { readRole } from "../../queries/team.ts";
import { useMay } from "../../session.ts";
import { readLastDay } from "../../times.ts";
import { useIdempotencyKey } from "../../use-action.ts";
import { KeysTable } from "./keys-table.tsx";
import { NewManagementKey } from "./new-key.tsx";

const route = getRouteApi("/shell/accounts/$account/management-keys");

/** Keys of the account for programs. */
export function ManagementKeysPage() {
  const { account } = route.useParams();
  const mayWrite = useMay("management_keys.write");
  const queryKey = ["account", account, "management-keys"];
  const headersFor = useIdempotencyKey();
  const [isCreating, setIsCreating] = useState(false);
  const list = useQuery({
    queryKey,
    queryFn: () => call(() => api.accounts({ account })["management-keys"].get()),
  });
  const create = ({ name = "", role, expires_at }: Readonly<Record<string, string>>) => {
    const body = { name, role: readRole(role), expires_at: readLastDay(expires_at) };
    return call(() => api.accounts({ account })["management-keys"].post(body, { headers: headersFor(body) }));
  };
  const revoke = (key: string) => call(() => api.accounts({ account })["management-keys"]({ key }).delete());
  return (
    <div className={styles.page}>
      <PageHeader
        title="Management keys"
        note="For programs: each opens the console's API inside this account, with a role."
      >
        {mayWrite && (
          <Button icon="plus" look="primary" onClick={() => setIsCreating(true)}>
            Create key
          </Button>
        )}
      </PageHeader>
      <KeysTable list={list} queryKey={queryKey} revoke={mayWrite ? revoke : undefined} />
      {isCreating && (
        <NewManagementKey
          create={create}
          queryKey={queryKey}
          hasRoles={true}
          path={`/accounts/${account}/keys`}
          onClose={() => setIsCreating(false)}
        />
      )}
    </div>
  );
}

const KEY = ["operator", "management-keys"];

/** Keys of operators for programs. */
export function OperatorManagementKeysPage() {
  const headersFor = useIdempotencyKey();
  const [isCreating, setIsCreating] = useState(false);
  const list = useQuery({
    queryKey: KEY,
    queryFn: () => call(() => api.operator["management-keys"].get()),
  });
  const create = ({ name = "", expires_at }: Readonly<Record<string, string>>) => {
    const body = { name, expires_at: readLastDay(expires_at) };
    return call(() => api.operator["management-keys"].post(body, { headers: headersFor(body) }));
  };
  const revoke = (key: string) => call(() => api.operator["management-keys"]({ key }).delete());
  return (
    <div className={styles.page}>
      <PageHeader
        title="Management keys of the platform"
        note="For programs: each may do what an operator may."
      >
        <Button icon="plus" look="primary" onClick={() => setIsCreating(true)}>
          Create key
        </Button>
      </PageHeader>
      <KeysTable list={list} queryKey={KEY} revoke={revoke} />
      {isCreating && (
        <NewManagementKey
          create={create}
          queryKey={KEY}
          hasRoles={false}
          path="/operator/accounts"
          onClose={() => setIsCreating(false)}
        />
      )}
    </div>
  );
}
