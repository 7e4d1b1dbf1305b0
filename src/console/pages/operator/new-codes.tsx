import { api, call } from "../../api.ts";
import { formatCents, readUsd } from "../../format.ts";
import { ActionDialog, SecretDialog } from "../../parts/dialog.tsx";
import { Field, FieldRow, type FormValues } from "../../parts/field.tsx";
import { AmountField, LastDayField, readSource, SourceField } from "../../parts/typed-fields.tsx";
import { CODES_KEY } from "../../queries/operator.ts";
import { readLastDay } from "../../times.ts";
import { readAmount } from "../../typed-amount.ts";
import { useIdempotencyKey } from "../../use-action.ts";

const COUNT_MAX = 100;

interface NewCode {
  readonly code: string;
  readonly amount_usd: string;
}

/** Creates up to 100 codes of one amount, then shows them once. */
export function NewCodes({ onClose }: { readonly onClose: () => void }) {
  const headersFor = useIdempotencyKey();
  return (
    <ActionDialog
      title="Create redeem codes"
      note="Whoever has a code can redeem it, once, for the wallet of one account."
      action="Create"
      act={(values) => {
        const body = readCodes(values);
        return call(() => api.operator.codes.post(body, { headers: headersFor(body) }));
      }}
      renews={[CODES_KEY]}
      shows={({ codes }) => <Created codes={codes} onClose={onClose} />}
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
    </ActionDialog>
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
