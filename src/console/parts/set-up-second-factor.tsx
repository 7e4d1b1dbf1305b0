import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { api, call } from "../api.ts";
import { signInWaysQuery } from "../queries/sign-in-ways.ts";
import { meQuery } from "../session.ts";
import { useAction } from "../use-action.ts";
import { Button } from "./button.tsx";
import { CodeBlock } from "./code-block.tsx";
import { Failure, Form, readForm } from "./field.tsx";
import { Skeleton } from "./loaded.tsx";
import styles from "./second-factor.module.css";
import secretStyles from "./secret-dialog.module.css";
import { CodeField } from "./typed-fields.tsx";

/** Sets up codes of an authenticator app: a picture for the app, its first code, then the recovery codes. */
export function SetUpSecondFactor({ onDone }: { readonly onDone: () => void }) {
  const [codes, setCodes] = useState<readonly string[]>();
  if (codes) return <RecoveryCodes codes={codes} onClose={onDone} />;
  return <FirstCode onCodes={setCodes} />;
}

function FirstCode({ onCodes }: { readonly onCodes: (codes: readonly string[]) => void }) {
  const begun = useQuery({
    queryKey: ["me", "second-factor"],
    queryFn: () => call(() => api.me["second-factor"].post()),
    // Each reading makes another secret.
    staleTime: Number.POSITIVE_INFINITY,
    gcTime: 0,
    retry: false,
  });
  const confirm = useAction({
    act: (code: string) => call(() => api.me["second-factor"].confirm.post({ code })),
    isForm: true,
    onDone: ({ recovery_codes }) => onCodes(recovery_codes),
  });
  if (begun.error) return <Failure error={begun.error} />;
  if (!begun.data) return <Skeleton lines={4} />;
  const { secret, uri } = begun.data;
  return (
    <Form error={confirm.error} onSubmit={(event) => confirm.mutate(readForm(event).code ?? "")}>
      <p>Scan the picture with an authenticator app, or type the secret into it.</p>
      <Picture uri={uri} />
      <CodeBlock label="secret" code={secret.match(/.{1,4}/g)?.join(" ") ?? secret} isWrapped />
      <Failure error={confirm.error} />
      <CodeField isOfApp />
      <Button type="submit" look="primary" isBusy={confirm.isPending}>
        Turn it on
      </Button>
    </Form>
  );
}

/** The address that apps read, as a picture. Dark on light in both themes: cameras read it so. */
function Picture({ uri }: { readonly uri: string }) {
  const { data } = useQuery({
    queryKey: ["second-factor-picture", uri],
    queryFn: async () => (await import("uqr")).encode(uri, { border: 2 }),
    gcTime: 0,
  });
  if (!data) return <div className={styles.picture} />;
  const squares = data.data.flatMap((row, y) =>
    row.flatMap((isDark, x) => (isDark ? [`M${x} ${y}h1v1h-1z`] : [])),
  );
  return (
    <svg
      className={styles.picture}
      viewBox={`0 0 ${data.size} ${data.size}`}
      role="img"
      aria-label="The secret as a picture for an authenticator app"
    >
      <path d={squares.join("")} />
    </svg>
  );
}

interface RecoveryCodesProps {
  readonly codes: readonly string[];
  readonly onClose: () => void;
}

/** Recovery codes, which are shown once. */
export function RecoveryCodes({ codes, onClose }: RecoveryCodesProps) {
  const done = useAction({
    act: async () => undefined,
    renews: [meQuery.queryKey, signInWaysQuery().queryKey],
    onDone: onClose,
  });
  return (
    <div className={secretStyles.stack}>
      <p>Each of these codes signs you in once, in place of the app. They are not shown again.</p>
      <CodeBlock label="recovery codes" code={codes.join("\n")} />
      <Button look="primary" icon="check" isBusy={done.isPending} onClick={() => done.mutate()}>
        I have stored them
      </Button>
    </div>
  );
}
