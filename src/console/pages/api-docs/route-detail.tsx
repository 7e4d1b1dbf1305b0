import { useMutation } from "@tanstack/react-query";
import type { ReactNode } from "react";
import { Badge, type Tone } from "../../parts/badge.tsx";
import { Button } from "../../parts/button.tsx";
import { CodeBlock } from "../../parts/code-block.tsx";
import { type Column, DataTable } from "../../parts/data-table.tsx";
import { Failure, Field, FieldRow, Form, readForm } from "../../parts/field.tsx";
import { Panel } from "../../parts/panel.tsx";
import { useAccountInView } from "../../shell/account-in-view.ts";
import styles from "./api-docs.module.css";
import type { Parameter, Route } from "./description.ts";
import { listMembers, type Member, makeExample, printType, type Schema } from "./schema.ts";

const MEMBER_COLUMNS: readonly Column<Member>[] = [
  { id: "path", header: "Member", cell: ({ path }) => <code>{path}</code> },
  { id: "type", header: "Type", cell: ({ type }) => <code className={styles.soft}>{type}</code> },
  { id: "required", header: "", cell: ({ isRequired }) => isRequired && <Required /> },
  { id: "text", header: "Meaning", cell: ({ text }) => text },
];

const PARAMETER_COLUMNS: readonly Column<Parameter>[] = [
  { id: "name", header: "Parameter", cell: ({ name }) => <code>{name}</code> },
  { id: "in", header: "In", cell: (parameter) => parameter.in },
  {
    id: "type",
    header: "Type",
    cell: ({ schema }) => <code className={styles.soft}>{printType(schema)}</code>,
  },
  { id: "required", header: "", cell: ({ required }) => required && <Required /> },
  { id: "text", header: "Meaning", cell: ({ schema }) => schema.description ?? "" },
];

/** One route: what it takes, what it answers, a command to copy and a form to try it. */
export function RouteDetail({ route }: { readonly route: Route }) {
  const { method, path, summary, text, parameters, body, answers } = route;
  return (
    <div className={styles.detail}>
      <Panel>
        <div className={styles.head}>
          <h2>{summary || path}</h2>
          <p className={styles.title}>
            <Method method={method} /> {path}
          </p>
          {text && <p className={styles.soft}>{text}</p>}
          <Access route={route} />
        </div>
        <Section title="As curl">
          <CodeBlock label="curl command" code={printCurl(route)} />
        </Section>
        {parameters.length > 0 && (
          <Section title="Parameters">
            <DataTable
              caption="Parameters"
              columns={PARAMETER_COLUMNS}
              rows={parameters}
              rowKey={(parameter) => `${parameter.in} ${parameter.name}`}
              empty={null}
            />
          </Section>
        )}
        {body && (
          <Section title="Body">
            <SchemaView schema={body.schema} example={body.example} caption="Body" />
          </Section>
        )}
      </Panel>
      {method === "get" && path.startsWith("/console/api/") && <TryRoute route={route} />}
      <Panel title="Answers">
        <div className={styles.answers}>
          {answers.map((answer) => (
            <Answer key={answer.status} answer={answer} />
          ))}
        </div>
      </Panel>
    </div>
  );
}

/** A status with its meaning; successes show their members too. */
function Answer({
  answer: { status, text, schema, example },
}: {
  readonly answer: Route["answers"][number];
}) {
  const line = (
    <span className={styles.answer}>
      <Badge tone={status.startsWith("2") ? "good" : "neutral"}>{status}</Badge> {text}
    </span>
  );
  if (!schema) return <p>{line}</p>;
  return (
    <details open={status.startsWith("2")}>
      <summary>{line}</summary>
      <SchemaView schema={schema} example={example} caption={`Answer ${status}`} />
    </details>
  );
}

/** The method of a route, in the tone of what it does. */
function Method({ method }: { readonly method: string }) {
  const tone = METHOD_TONES[method] ?? "accent";
  return <Badge tone={tone}>{method.toUpperCase()}</Badge>;
}

const METHOD_TONES: Readonly<Record<string, Tone>> = { get: "info", delete: "bad" };

function Access({ route: { needs, isConfirmed, isForKeys } }: { readonly route: Route }) {
  return (
    <div className={styles.badges}>
      {needs && <Badge>{describeNeeds(needs)}</Badge>}
      {isForKeys && <Badge>Needs an API key</Badge>}
      {isConfirmed && <Badge tone="warn">Asks for a fresh password</Badge>}
    </div>
  );
}

function describeNeeds(needs: string): string {
  if (needs === "public") return "Open to everybody";
  if (needs === "self") return "Any signed-in person";
  if (needs === "operator") return "Platform operators";
  return `Permission ${needs}`;
}

interface SchemaViewProps {
  readonly schema: Schema;
  readonly example: unknown;
  readonly caption: string;
}

function SchemaView({ schema, example = makeExample(schema), caption }: SchemaViewProps) {
  const members = listMembers(schema);
  const isEmpty = JSON.stringify(example) === "{}";
  if (members.length === 0 && isEmpty) return <p className={styles.nothing}>A JSON object.</p>;
  return (
    <div className={styles.section}>
      {members.length > 0 && (
        <DataTable
          caption={`Members of ${caption}`}
          columns={MEMBER_COLUMNS.filter(({ id }) => id !== "text" || members.some(({ text }) => text))}
          rows={members}
          rowKey={({ path }) => path}
          empty={null}
        />
      )}
      <CodeBlock label={`example of ${caption}`} code={JSON.stringify(example, null, 2)} />
    </div>
  );
}

function Section({ title, children }: { readonly title: string; readonly children: ReactNode }) {
  return (
    <section className={styles.section}>
      <h3>{title}</h3>
      {children}
    </section>
  );
}

function Required() {
  return <span className={styles.required}>required</span>;
}

function printCurl({ method, path, body, isForKeys, needs }: Route): string {
  const example = body && (body.example ?? makeExample(body.schema));
  const key = isForKeys ? "$TOLLGATE_KEY" : "$TOLLGATE_MANAGEMENT_KEY";
  const isOpen = needs === "public" || (!isForKeys && needs === undefined);
  const lines = [
    `curl ${method === "get" ? "" : `-X ${method.toUpperCase()} `}"${location.origin}${path}"`,
    ...(isOpen ? [] : [`-H "authorization: Bearer ${key}"`]),
    ...(example === undefined
      ? []
      : ['-H "content-type: application/json"', `-d '${JSON.stringify(example).replaceAll("'", "'\\''")}'`]),
  ];
  return lines.join(" \\\n  ");
}

/** Longer answers are cut, so that the page stays readable. */
const SHOWN_MAX = 20_000;

/** Sends a GET as the signed-in person, and shows the answer as it came. */
function TryRoute({ route: { path, parameters } }: { readonly route: Route }) {
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
