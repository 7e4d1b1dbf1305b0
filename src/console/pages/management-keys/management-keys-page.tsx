import { useQuery } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import { useState } from "react";
import { api, call } from "../../api.ts";
import { useIdempotencyKey } from "../../idempotency-key.ts";
import { Button } from "../../parts/button.tsx";
import { PageHeader } from "../../parts/page-header.tsx";
import styles from "../../parts/stack.module.css";
import { useMay } from "../../session.ts";
import { readLastDay } from "../../times.ts";
import { readRole } from "../team/queries.ts";
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
  const { data, error, refetch } = useQuery({
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
      <KeysTable
        keys={data?.items}
        error={error}
        onRetry={() => void refetch()}
        queryKey={queryKey}
        revoke={mayWrite ? revoke : undefined}
      />
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
