import { useQuery } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import { useState } from "react";
import { api, call } from "../../api.ts";
import { formatCents, plural, readUsd } from "../../format.ts";
import { Badge, type Tone } from "../../parts/badge.tsx";
import { Button } from "../../parts/button.tsx";
import { type Column, DataTable, Pager } from "../../parts/data-table.tsx";
import { Confirm, FormDialog, SecretDialog } from "../../parts/dialog.tsx";
import { Field, FieldRow, type FormValues } from "../../parts/field.tsx";
import { Empty } from "../../parts/loaded.tsx";
import { Money } from "../../parts/money.tsx";
import { PageHeader } from "../../parts/page-header.tsx";
import { Panel } from "../../parts/panel.tsx";
import styles from "../../parts/stack.module.css";
import { Time } from "../../parts/time.tsx";
import { AmountField, LastDayField, readSource, SourceField } from "../../parts/typed-fields.tsx";
import { CODES_KEY, type Code, codesQuery } from "../../queries/operator.ts";
import { readLastDay } from "../../times.ts";
import { readAmount } from "../../typed-amount.ts";
import { useAction, useIdempotencyKey } from "../../use-action.ts";

const route = getRouteApi("/shell/operator/codes");

const STATES = {
  open: "good",
  redeemed: "info",
  expired: "neutral",
  revoked: "neutral",
} as const satisfies Record<Code["state"], Tone>;

/** Codes that people redeem for credit. */
export function OperatorCodesPage() {
  const { page } = route.useSearch();
  const [isCreating, setIsCreating] = useState(false);
  const [revoked, setRevoked] = useState<Code>();
  const list = useQuery(codesQuery(page));
  const create = (
    <Button icon="plus" look="primary" onClick={() => setIsCreating(true)}>
      Create codes
    </Button>
  );
  return (
    <div className={styles.page}>
      <PageHeader title="Redeem codes" note="A code credits one account, once. Only its digest is stored.">
        {list.data?.items.length !== 0 && create}
      </PageHeader>
      <Panel isFlush>
        <DataTable
          caption="Redeem codes"
          columns={[...COLUMNS, revokeColumn(setRevoked)]}
          rowKey={({ id }) => id}
          empty={
            <Empty icon="code" title="No code yet" actions={create}>
              An owner redeems a code on the page of the wallet.
            </Empty>
          }
          query={list}
          footer={<Pager next={list.data?.next ?? null} />}
        />
      </Panel>
      {isCreating && <NewCodes onClose={() => setIsCreating(false)} />}
      {revoked && <Revoke code={revoked} onClose={() => setRevoked(undefined)} />}
    </div>
  );
}

const COLUMNS: readonly Column<Code>[] = [
  {
    id: "hint",
    header: "Code",
    cell: ({ hint, note, source, credit_days }) => (
      <span className={styles.named}>
        <code>{hint}…</code>
        <small>
          {[note, credit_days === null ? source : `${source} for ${plural(credit_days, "day")}`]
            .filter(Boolean)
            .join(" · ")}
        </small>
      </span>
    ),
  },
  {
    id: "amount",
    header: "Amount",
    align: "end",
    cell: ({ amount_usd }) => <Money usd={amount_usd} />,
  },
  { id: "state", header: "State", cell: ({ state }) => <Badge tone={STATES[state]}>{state}</Badge> },
  {
    id: "account",
    header: "Redeemed by",
    cell: ({ account_id, account_name, redeemed_at }) =>
      account_id === null ? (
        "–"
      ) : (
        <span className={styles.named}>
          {account_name ?? account_id}
          <small>
            <Time at={redeemed_at} />
          </small>
        </span>
      ),
  },
  {
    id: "created",
    header: "Created",
    isNarrow: true,
    cell: ({ created_at }) => <Time at={created_at} as="date" />,
  },
  {
    id: "expires",
    header: "Expires",
    isNarrow: true,
    cell: ({ expires_at }) =>
      expires_at ? <Time at={expires_at} as="date" /> : <span className={styles.soft}>never</span>,
  },
];

function revokeColumn(revoke: (code: Code) => void): Column<Code> {
  return {
    id: "revoke",
    header: "",
    align: "end",
    cell: (code) =>
      code.state === "open" && (
        <Button
          size="small"
          look="danger"
          aria-label={`Revoke code ${code.hint}`}
          onClick={() => revoke(code)}
        >
          Revoke
        </Button>
      ),
  };
}

function Revoke({ code, onClose }: { readonly code: Code; readonly onClose: () => void }) {
  return (
    <Confirm
      title={`Revoke code ${code.hint}…`}
      note="Nobody can redeem it any more. This cannot be undone."
      action="Revoke"
      isDanger
      act={() => call(() => api.operator.codes({ code: code.id }).delete())}
      renews={[CODES_KEY]}
      done="Code revoked"
      onClose={onClose}
    />
  );
}

const COUNT_MAX = 100;

interface NewCode {
  readonly code: string;
  readonly amount_usd: string;
}

/** Creates up to 100 codes of one amount, then shows them once. */
function NewCodes({ onClose }: { readonly onClose: () => void }) {
  const headersFor = useIdempotencyKey();
  const create = useAction({
    act: (values: FormValues) => {
      const body = readCodes(values);
      return call(() => api.operator.codes.post(body, { headers: headersFor(body) }));
    },
    renews: [CODES_KEY],
    isForm: true,
  });
  if (create.data) return <Created codes={create.data.codes} onClose={onClose} />;
  return (
    <FormDialog
      title="Create redeem codes"
      note="Whoever has a code can redeem it, once, for the wallet of one account."
      action="Create"
      call={create}
      onSubmit={(values) => create.mutate(values)}
      onClose={onClose}
    >
      <FieldRow>
        <AmountField label="Amount of each in USD" required />
        <Field
          label="Number of codes"
          name="count"
          type="number"
          min={1}
          max={COUNT_MAX}
          defaultValue={1}
          hint={`1 to ${COUNT_MAX}.`}
          required
        />
      </FieldRow>
      <Field
        label="Note"
        name="note"
        hint="For operators only: the event, or the customer."
        maxLength={200}
        isOptional
      />
      <LastDayField subject="Codes expire" />
      <FieldRow>
        <SourceField usual="promotion" />
        <Field
          label="Days of the credit"
          name="credit_days"
          type="number"
          min={1}
          max={36_500}
          hint="From its redemption until what is left ends. Empty: never."
          isOptional
        />
      </FieldRow>
    </FormDialog>
  );
}

function Created({ codes, onClose }: { readonly codes: readonly NewCode[]; readonly onClose: () => void }) {
  const each = formatCents(readUsd(codes[0]?.amount_usd ?? "0"));
  return (
    <SecretDialog
      title={codes.length === 1 ? `A code of ${each}` : `${codes.length} codes of ${each} each`}
      note={`This is the only time that ${codes.length === 1 ? "it is" : "they are"} shown: only digests are stored.`}
      label={codes.length === 1 ? "code" : "codes"}
      secret={codes.map(({ code }) => code).join("\n")}
      onClose={onClose}
    />
  );
}

/** A code works to the end of its last day in the viewer's zone. */
function readCodes({ amount_usd, count = "1", note = "", expires_at, source, credit_days }: FormValues) {
  return {
    amount_usd: readAmount(amount_usd),
    count: Number(count),
    ...(note && { note }),
    expires_at: readLastDay(expires_at),
    source: readSource(source),
    credit_days: credit_days ? Number(credit_days) : null,
  };
}
