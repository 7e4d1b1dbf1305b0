import { useMutation } from "@tanstack/react-query";
import { readForm } from "../../form-values.ts";
import { Badge } from "../../parts/badge.tsx";
import { Button } from "../../parts/button.tsx";
import { CodeBlock } from "../../parts/code-block.tsx";
import { Failure, Field, FieldRow, Form } from "../../parts/field.tsx";
import { Panel } from "../../parts/panel.tsx";
import { useAccountInView } from "../../shell/account-in-view.ts";
import styles from "./api-docs.module.css";
import type { Route } from "./description.ts";

/** Longer answers are cut, so that the page stays readable. */
const SHOWN_MAX = 20_000;

/** Sends a GET as the signed-in person, and shows the answer as it came. */
export function TryRoute({ route: { path, parameters } }: { readonly route: Route }) {
  const account = useAccountInView();
  const send = useMutation({
    mutationFn: (values: Readonly<Record<string, string>>) => fetchText(path, values),
  });
  const fields = parameters.filter((parameter) => parameter.in === "path" || parameter.in === "query");
  if (path.endsWith("/live")) return null;
  return (
    <Panel title="Try it" note="Sent with your session.">
      <Form onSubmit={(event) => send.mutate(readForm(event))}>
        {fields.length > 0 && (
          <FieldRow>
            {fields.map(({ name, required }) => (
              <Field
                key={name}
                label={name}
                name={name}
                required={required}
                isOptional={!required}
                defaultValue={name === "account" ? account?.id : undefined}
              />
            ))}
          </FieldRow>
        )}
        <div>
          <Button type="submit" icon="play" isBusy={send.isPending}>
            Send
          </Button>
        </div>
        <Failure error={send.error} />
      </Form>
      {send.data && (
        <div className={styles.section}>
          <span>
            <Badge tone={send.data.status < 400 ? "good" : "bad"}>{send.data.status}</Badge>
          </span>
          <CodeBlock label="answer" code={send.data.text} />
        </div>
      )}
    </Panel>
  );
}

async function fetchText(path: string, values: Readonly<Record<string, string>>) {
  const query = new URLSearchParams();
  let filled = path;
  for (const [name, value] of Object.entries(values)) {
    if (filled.includes(`{${name}}`)) filled = filled.replace(`{${name}}`, encodeURIComponent(value));
    else if (value !== "") query.set(name, value);
  }
  const response = await fetch(query.size > 0 ? `${filled}?${query}` : filled);
  const text = await response.text();
  const isJson = response.headers.get("content-type")?.startsWith("application/json") ?? false;
  const shown = isJson ? JSON.stringify(JSON.parse(text), null, 2) : text;
  return { status: response.status, text: shown.slice(0, SHOWN_MAX) };
}
