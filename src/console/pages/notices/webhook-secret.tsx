import { useQuery } from "@tanstack/react-query";
import { api, call } from "../../api.ts";
import { CodeBlock } from "../../parts/code-block.tsx";
import { Dialog } from "../../parts/dialog.tsx";
import { ErrorPanel } from "../../parts/error-panel.tsx";
import { Skeleton } from "../../parts/skeleton.tsx";
import styles from "../../parts/stack.module.css";
import type { Rule } from "./queries.ts";
import { WebhookContract } from "./webhook-contract.tsx";

interface WebhookSecretProps {
  readonly account: string;
  readonly rule: Rule;
  readonly onClose: () => void;
}

/** The secret that signs the webhook of a rule, and what its receiver does with it. */
export function WebhookSecret({ account, rule, onClose }: WebhookSecretProps) {
  const { data, error, refetch } = useQuery({
    queryKey: ["account", account, "notice-rules", rule.id, "secret"],
    queryFn: () => call(() => api.accounts({ account })["notice-rules"]({ rule: rule.id }).secret.get()),
    gcTime: 0,
  });
  return (
    <Dialog
      title="Webhook"
      note={`Each notice is one POST to ${rule.webhook_url}, signed with this secret.`}
      isOpen
      isWide
      onClose={onClose}
    >
      <div className={styles.page}>
        {error && <ErrorPanel error={error} onRetry={() => void refetch()} />}
        {data ? <CodeBlock label="secret" code={data.secret} isWrapped /> : !error && <Skeleton />}
        <WebhookContract />
      </div>
    </Dialog>
  );
}
