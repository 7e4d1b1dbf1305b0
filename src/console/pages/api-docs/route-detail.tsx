import type { ReactNode } from "react";
import { Badge, type Tone } from "../../parts/badge.tsx";
import { CodeBlock } from "../../parts/code-block.tsx";
import { type Column, DataTable } from "../../parts/data-table.tsx";
import { Panel } from "../../parts/panel.tsx";
import styles from "./api-docs.module.css";
import type { Parameter, Route } from "./description.ts";
import { listMembers, type Member, makeExample, printType, type Schema } from "./schema.ts";
import { TryRoute } from "./try-route.tsx";

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
