import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { api, call } from "../../api.ts";
import { useIdempotencyKey } from "../../idempotency-key.ts";
import { Button } from "../../parts/button.tsx";
import { PageHeader } from "../../parts/page-header.tsx";
import styles from "../../parts/stack.module.css";
import { readLastDay } from "../../times.ts";
import { KeysTable } from "../management-keys/keys-table.tsx";
import { NewManagementKey } from "../management-keys/new-key.tsx";

const KEY = ["operator", "management-keys"];

/** Keys of operators for programs. */
export function OperatorManagementKeysPage() {
  const headersFor = useIdempotencyKey();
  const [isCreating, setIsCreating] = useState(false);
  const { data, error, refetch } = useQuery({
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
      <KeysTable
        keys={data?.items}
        error={error}
        onRetry={() => void refetch()}
        queryKey={KEY}
        revoke={revoke}
      />
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
