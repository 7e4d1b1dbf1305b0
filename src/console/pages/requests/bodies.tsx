import { useQuery } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { type FormEvent, useState } from "react";
import { api, call } from "../../api.ts";
import { formatCount } from "../../format.ts";
import { Button, ButtonLink } from "../../parts/button.tsx";
import { classes } from "../../parts/classes.ts";
import { CodeBlock, printPretty } from "../../parts/code-block.tsx";
import { Confirm } from "../../parts/dialog.tsx";
import { Field, Form, readForm } from "../../parts/field.tsx";
import { ErrorPanel, Skeleton } from "../../parts/loaded.tsx";
import { Panel } from "../../parts/panel.tsx";
import stack from "../../parts/stack.module.css";
import { Time } from "../../parts/time.tsx";
import { openedRecordingQuery, type RecordingContent, recordingQuery } from "../../queries/recordings.ts";
import { useMay } from "../../session.ts";
import styles from "./bodies.module.css";

interface BodiesProps {
  readonly account: string;
  readonly request: string;
}

/** What was sent and answered, where the key of the request recorded it. Shown to those who may read it. */
export function Bodies({ account, request }: BodiesProps) {
  const mayRead = useMay("recordings.read");
  const { data } = useQuery({ ...recordingQuery(account, request), enabled: mayRead });
  const [isOpen, setIsOpen] = useState(false);
  const [isDeleting, setIsDeleting] = useState(false);
  if (!data) return null;
  return (
    <Panel
      title="Bodies"
      note={
        <>
          Kept until <Time at={data.expires_at} as="minute" />. Who opens them is in the audit trail.
        </>
      }
      actions={
        <>
          <Button aria-expanded={isOpen} onClick={() => setIsOpen(!isOpen)}>
            {isOpen ? "Close" : "Open"}
          </Button>
          <Button look="danger" onClick={() => setIsDeleting(true)}>
            Delete
          </Button>
        </>
      }
    >
      {isOpen ? (
        <Opened account={account} request={request} />
      ) : (
        <p className={stack.soft}>
          What the client sent and what it was answered, redacted by the key's rules.
        </p>
      )}
      {isDeleting && (
        <DeleteBodies account={account} request={request} onClose={() => setIsDeleting(false)} />
      )}
    </Panel>
  );
}

function Opened({ account, request }: BodiesProps) {
  const { data, error, refetch } = useQuery(openedRecordingQuery(account, request));
  if (error) return <ErrorPanel error={error} onRetry={() => void refetch()} />;
  if (!data) return <Skeleton shape="block" />;
  const { content } = data;
  if (!content) return <p role="alert">{UNREADABLE}</p>;
  return (
    <div className={classes(stack.page, styles.bodies)}>
      <Body title="Request" unit="bytes" label="request body" body={content.request} />
      {content.answer ? (
        <Body title="Answer" unit="characters" label="answer" body={content.answer} />
      ) : (
        <p className={stack.soft}>
          The stream of the answer could not be put together, so that it is not kept.
        </p>
      )}
      <div className={stack.filters}>
        {content.conversation !== null && (
          <ButtonLink
            icon="playground"
            to="/accounts/$account/playground"
            params={{ account }}
            search={{ from: request }}
          >
            Open in the playground
          </ButtonLink>
        )}
        <CompareWith account={account} request={request} />
      </div>
    </div>
  );
}

export const UNREADABLE =
  "These bodies cannot be read: the operator's key that encrypted them is gone, or the recordings of the API key were deleted.";

interface BodyProps {
  readonly title: string;
  readonly label: string;
  readonly unit: string;
  readonly body: RecordingContent["request"];
}

function Body({ title, label, unit, body: { text, length, is_cut } }: BodyProps) {
  return (
    <section className={stack.part}>
      <h3>{title}</h3>
      <p className={stack.soft}>
        {formatCount(length)} {unit} as sent{is_cut && ". Longer than what is kept: the rest is cut"}.
      </p>
      {text === "" ? <p>Nothing.</p> : <CodeBlock label={label} code={printPretty(text)} isWrapped />}
    </section>
  );
}

/** Leads to this request beside another. */
function CompareWith({ account, request }: BodiesProps) {
  const navigate = useNavigate();
  const compare = (event: FormEvent<HTMLFormElement>) => {
    const { other = "" } = readForm(event);
    const search = { left: other.trim(), right: request };
    void navigate({ to: "/accounts/$account/compare", params: { account }, search });
  };
  return (
    <details className={stack.more}>
      <summary>Compare with another request</summary>
      <Form onSubmit={compare}>
        <Field
          label="Request id"
          name="other"
          autoComplete="off"
          spellCheck={false}
          maxLength={64}
          required
        />
        <Button type="submit" className={stack.start}>
          Compare
        </Button>
      </Form>
    </details>
  );
}

function DeleteBodies({ account, request: id, onClose }: BodiesProps & { readonly onClose: () => void }) {
  return (
    <Confirm
      title="Delete the bodies of this request?"
      note="They cannot be brought back. The receipt stays."
      action="Delete"
      isDanger
      act={() => call(() => api.accounts({ account }).requests({ id }).recording.delete())}
      renews={[["account", account, "recording"]]}
      done="Bodies deleted"
      onClose={onClose}
    />
  );
}
