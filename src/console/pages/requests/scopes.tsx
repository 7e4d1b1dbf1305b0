import { Link } from "@tanstack/react-router";
import type { ReactNode } from "react";
import type { ReceiptData } from "../../queries/requests.ts";
import styles from "./receipt.module.css";

const KINDS: Readonly<Record<string, string>> = {
  account: "Account",
  key: "Key",
  parent_key: "Key above",
  project: "Project",
  member: "Member",
  end_user: "End user",
  tag: "Tag",
  run: "Run",
};

/** What a request counts for, or what a limit binds. */
export interface ShownScope {
  readonly kind: string;
  readonly id: string | null;
  readonly name: string | null;
}

/** The kind of a scope, as a title: "End user". */
export function titleOfScope({ kind }: Pick<ShownScope, "kind">): string {
  return KINDS[kind] ?? kind;
}

/** The name of a scope, or its id. Projects and keys lead to their pages, members to the team, others to usage. */
export function ScopeName({
  account,
  scope,
}: {
  readonly account: string;
  readonly scope: ShownScope;
}): ReactNode {
  const { kind, id, name } = scope;
  if (id === null) return "the whole account";
  const text = name ?? id;
  if (kind === "project") {
    return (
      <Link to="/accounts/$account/projects/$project" params={{ account, project: id }}>
        {text}
      </Link>
    );
  }
  if (kind === "parent_key" || kind === "key") {
    return (
      <Link to="/accounts/$account/keys/$key" params={{ account, key: id }}>
        {text}
      </Link>
    );
  }
  if (kind === "member") {
    return (
      <Link to="/accounts/$account/team" params={{ account }}>
        {text}
      </Link>
    );
  }
  if (kind === "account") return text;
  return (
    <Link to="/accounts/$account/usage" params={{ account }} search={{ scope: `${kind}:${id}` }}>
      {kind === "run" ? runOf(id) : text}
    </Link>
  );
}

/** The id that the client chose for a run. The id of its key and a colon stand before it. */
function runOf(id: string): string {
  return id.slice(id.indexOf(":") + 1);
}

/** What a request counts for beside its account and key, as rows of its facts. */
export function ScopeFacts({
  account,
  scopes,
}: {
  readonly account: string;
  readonly scopes: ReceiptData["scopes"];
}) {
  return scopes.map((scope) => (
    <div key={`${scope.kind} ${scope.id}`} className={styles.pair}>
      <dt>{titleOfScope(scope)}</dt>
      <dd>
        <ScopeName account={account} scope={scope} />
      </dd>
    </div>
  ));
}
