import { useQuery } from "@tanstack/react-query";
import { CodeBlock } from "../../parts/code-block.tsx";
import { Dialog } from "../../parts/dialog.tsx";
import { ErrorPanel, Skeleton } from "../../parts/loaded.tsx";
import styles from "../../parts/stack.module.css";
import { type Rule, webhookSecretQuery } from "../../queries/notices.ts";

const EVENT = `{
  "type": "notice.raised",
  "id": "01a20379-4fe8-745c-921c-4a29b14afdfc",
  "raised_at": "2026-11-22T13:00:00.000Z",
  "account_id": "…",
  "rule_id": "…",
  "subject": "…",
  "kind": "balance_below",
  "text": "The available balance is 9.50 USD, below 10.00 USD.",
  "threshold": "10.00",
  "value": "9.50"
}`;

const CHECK = `import { createHmac, timingSafeEqual } from "node:crypto";

// secret: of this rule; header: tollgate-signature; body: the bytes as received.
function isGenuine(secret, header, body) {
  const [, t, v1] = /^t=(\\d+),v1=([\\da-f]{64})$/.exec(header) ?? [];
  if (!t || Math.abs(Date.now() / 1000 - Number(t)) > 300) return false;
  const expected = createHmac("sha256", secret).update(\`\${t}.\${body}\`).digest();
  return timingSafeEqual(expected, Buffer.from(v1, "hex"));
}`;

/** What a webhook receives, and how it checks the signature. */
export function WebhookContract() {
  return (
    <div className={styles.page}>
      <section className={styles.part}>
        <h3>What is sent</h3>
        <CodeBlock label="event" code={EVENT} />
      </section>
      <section className={styles.part}>
        <h3>Check the signature</h3>
        <p className={styles.soft}>
          Drop repetitions by the header tollgate-delivery: a call whose end was not recorded is repeated.
        </p>
        <CodeBlock label="signature check" code={CHECK} />
      </section>
    </div>
  );
}

interface WebhookSecretProps {
  readonly account: string;
  readonly rule: Rule;
  readonly onClose: () => void;
}

/** The secret that signs the webhook of a rule, and what its receiver does with it. */
export function WebhookSecret({ account, rule, onClose }: WebhookSecretProps) {
  const { data, error, refetch } = useQuery(webhookSecretQuery(account, rule.id));
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
