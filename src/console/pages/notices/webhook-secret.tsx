import { useQuery } from "@tanstack/react-query";
import { api, call } from "../../api.ts";
import { CodeBlock } from "../../parts/code-block.tsx";
import { Dialog } from "../../parts/dialog.tsx";
import { ErrorPanel } from "../../parts/error-panel.tsx";
import { Skeleton } from "../../parts/skeleton.tsx";

interface WebhookSecretProps {
  readonly account: string;
  readonly rule: string;
  readonly onClose: () => void;
}

/** The secret that signs the webhook of a rule. */
export function WebhookSecret({ account, rule, onClose }: WebhookSecretProps) {
  const { data, error, refetch } = useQuery({
    queryKey: ["account", account, "notice-rules", rule, "secret"],
    queryFn: () => call(() => api.accounts({ account })["notice-rules"]({ rule }).secret.get()),
    gcTime: 0,
  });
  return (
    <Dialog
      title="Secret of the webhook"
      note="Each call has a tollgate-signature header: t=SECONDS,v1=HMAC-SHA256 of SECONDS.BODY with this secret, in hex."
      isOpen
      onClose={onClose}
    >
      {error && <ErrorPanel error={error} onRetry={() => void refetch()} />}
      {data ? <CodeBlock label="secret" code={data.secret} isWrapped /> : !error && <Skeleton />}
    </Dialog>
  );
}
