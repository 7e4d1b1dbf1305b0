import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { PATTERN_NAMES, type PatternName } from "../../../domain/recording-rules.ts";
import { api, call } from "../../api.ts";
import { formatCount } from "../../format.ts";
import { Badge } from "../../parts/badge.tsx";
import { Button } from "../../parts/button.tsx";
import { currentOf } from "../../parts/conflict-dialog.tsx";
import { Confirm, FormDialog } from "../../parts/dialog.tsx";
import { Choice, FieldRow, TextArea } from "../../parts/field.tsx";
import { Empty, Loaded } from "../../parts/loaded.tsx";
import { Panel } from "../../parts/panel.tsx";
import { Time } from "../../parts/time.tsx";
import { type KeyPageData, useMayChange } from "../../queries/keys.ts";
import { type KeyRecording, keyRecordingQuery } from "../../queries/recordings.ts";
import { useMay } from "../../session.ts";
import { HOUR_MS } from "../../times.ts";
import { useAction } from "../../use-action.ts";
import styles from "./key.module.css";
import fields from "./keys.module.css";

interface RecordingProps {
  readonly account: string;
  readonly shown: KeyPageData;
}

/** Whether the key records the bodies of its requests, and the switch. */
export function Recording({ account, shown }: RecordingProps) {
  const query = useQuery(keyRecordingQuery(account, shown.id));
  return (
    <Loaded query={query}>
      {(recording) => <State account={account} shown={shown} recording={recording} />}
    </Loaded>
  );
}

/** Says on every tab of the key that its bodies are kept. */
export function RecordingBadge({ account, shown }: RecordingProps) {
  const { data } = useQuery(keyRecordingQuery(account, shown.id));
  return data?.is_on ? <Badge tone="warn">records bodies</Badge> : null;
}

interface StateProps extends RecordingProps {
  readonly recording: KeyRecording;
}

function State({ account, shown, recording }: StateProps) {
  const [open, setOpen] = useState<"switch" | "delete">();
  const mayRecord = useMay("recordings.write");
  const mayChange = useMayChange();
  const isMine = mayRecord && mayChange(shown);
  const stop = useRecordingAction(account, shown.id, "No more bodies are kept");
  const close = () => setOpen(undefined);
  const { is_on, is_available, count } = recording;
  return (
    <Panel
      title="Request bodies"
      note="What clients send and models answer. Nothing is kept unless it is switched on here."
      actions={
        isMine && (
          <>
            {is_on && (
              <Button
                isBusy={stop.isPending}
                onClick={() => stop.mutate({ ...bodyOf(recording), until: null })}
              >
                Switch off
              </Button>
            )}
            {is_available && shown.state === "active" && (
              <Button onClick={() => setOpen("switch")}>{is_on ? "Change" : "Switch on"}</Button>
            )}
            {count > 0 && (
              <Button look="danger" onClick={() => setOpen("delete")}>
                Delete all
              </Button>
            )}
          </>
        )
      }
    >
      {is_on || count > 0 ? (
        <Facts recording={recording} />
      ) : (
        <Empty icon="requests" title="No bodies are kept">
          {is_available
            ? "Switched on, they are redacted, encrypted and deleted after at most 7 days. Owners and developers of this account may read them, and no operator."
            : "The operator of this gateway has not set RECORDING_KEYS, with which bodies are encrypted."}
        </Empty>
      )}
      {open === "switch" && <Switch account={account} shown={shown} recording={recording} onClose={close} />}
      {open === "delete" && (
        <DeleteAll account={account} shown={shown} recording={recording} onClose={close} />
      )}
    </Panel>
  );
}

const PATTERN_TEXTS: Readonly<Record<PatternName, string>> = {
  secret: "API keys, tokens and passwords",
  card: "card numbers",
  email: "e-mail addresses",
};

function Facts({ recording }: { readonly recording: KeyRecording }) {
  const { is_on, until, kept_hours, keeps_media, patterns, expressions, count, bytes } = recording;
  const redacted = [
    ...patterns.map((name) => PATTERN_TEXTS[name]),
    ...(expressions.length > 0 ? [`${formatCount(expressions.length)} own`] : []),
  ];
  return (
    <dl className={styles.facts}>
      <dt>Records</dt>
      <dd>{is_on && until ? <>until {<Time at={until} as="minute" />}</> : "no longer"}</dd>
      <dt>Each is kept</dt>
      <dd>{describeHours(kept_hours)}</dd>
      <dt>Redacted</dt>
      <dd>{redacted.join(", ") || "nothing"}</dd>
      <dt>Images and files</dt>
      <dd>{keeps_media ? "kept" : "their type and length"}</dd>
      <dt>Now kept</dt>
      <dd>
        {formatCount(count)} {count === 1 ? "request" : "requests"}, {formatCount(Math.ceil(bytes / 1024))}{" "}
        KiB
      </dd>
    </dl>
  );
}

function capitalize(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}

function describeHours(hours: number): string {
  if (hours % 24 !== 0) return `${formatCount(hours)} hours`;
  return hours === 24 ? "a day" : `${formatCount(hours / 24)} days`;
}

/** As `PUT` takes it. */
type Wanted = Pick<
  KeyRecording,
  "version" | "until" | "kept_hours" | "keeps_media" | "patterns" | "expressions"
>;

function bodyOf({ version, until, kept_hours, keeps_media, patterns, expressions }: KeyRecording): Wanted {
  return { version, until, kept_hours, keeps_media, patterns, expressions };
}

function useRecordingAction(account: string, key: string, done: string, onDone?: () => void) {
  return useAction({
    act: (wanted: Wanted) => call(() => api.accounts({ account }).keys({ key }).recording.put(wanted)),
    renews: [["account", account, "keys"]],
    done,
    isForm: onDone !== undefined,
    ...(onDone && { onDone }),
  });
}

const DURATIONS = [1, 8, 24, 72, 168].map((hours) => ({
  value: String(hours),
  text: hours === 1 ? "an hour" : describeHours(hours),
}));

interface DialogProps extends StateProps {
  readonly onClose: () => void;
}

function Switch({ account, shown, recording, onClose }: DialogProps) {
  const save = useRecordingAction(account, shown.id, "Bodies are kept from now on", onClose);
  const current = currentOf<KeyRecording>(save.error);
  const { kept_hours, keeps_media, patterns, expressions } = recording;
  const kept = DURATIONS.some(({ value }) => value === String(kept_hours)) ? String(kept_hours) : "24";
  const submit = (form: HTMLFormElement) => {
    const data = new FormData(form);
    save.mutate({
      version: current?.version ?? recording.version,
      until: new Date(Date.now() + Number(data.get("until")) * HOUR_MS).toISOString(),
      kept_hours: Number(data.get("kept_hours")),
      keeps_media: data.has("keeps_media"),
      patterns: PATTERN_NAMES.filter((name) => data.getAll("patterns").includes(name)),
      expressions: String(data.get("expressions"))
        .split("\n")
        .map((line) => line.trim())
        .filter((line) => line !== ""),
    });
  };
  return (
    <FormDialog
      title={`Keep request bodies of “${shown.name}”`}
      note="Every answer says until when its bodies are kept, in the header x-tollgate-recorded. Tell the people whose words these are."
      action="Keep bodies"
      isWide
      call={save}
      onSubmit={(_, form) => submit(form)}
      onClose={onClose}
    >
      <FieldRow>
        <Choice label="Record for" name="until" options={DURATIONS} defaultValue="24" />
        <Choice label="Keep each for" name="kept_hours" options={DURATIONS} defaultValue={kept} />
      </FieldRow>
      <fieldset className={fields.group}>
        <legend>Redact</legend>
        {PATTERN_NAMES.map((name) => (
          <label key={name} className={fields.check}>
            <input type="checkbox" name="patterns" value={name} defaultChecked={patterns.includes(name)} />
            {capitalize(PATTERN_TEXTS[name])}
          </label>
        ))}
        <TextArea
          label="Own expressions"
          name="expressions"
          hint="One a line, in RE2's syntax: customer \d+. At most 5."
          refusal="One of them is no expression of RE2, or matches the empty text."
          defaultValue={expressions.join("\n")}
          rows={3}
          spellCheck={false}
          isOptional
        />
        <label className={fields.check}>
          <input type="checkbox" name="keeps_media" defaultChecked={keeps_media} />
          Keep images and files too, instead of their type and length
        </label>
      </fieldset>
    </FormDialog>
  );
}

function DeleteAll({ account, shown, recording, onClose }: DialogProps) {
  const remove = useAction({
    act: () => call(() => api.accounts({ account }).keys({ key: shown.id }).recordings.delete()),
    renews: [
      ["account", account, "keys"],
      ["account", account, "recording"],
    ],
    done: "Bodies deleted",
    isForm: true,
    onDone: onClose,
  });
  const requests = recording.count === 1 ? "one request" : `${formatCount(recording.count)} requests`;
  return (
    <Confirm
      title={`Delete the bodies of “${shown.name}”?`}
      note={`Those of ${requests} become unreadable at once. Receipts stay. The key ${
        recording.is_on ? "goes on recording" : "records no more"
      }.`}
      action="Delete all"
      isDanger
      call={remove}
      onConfirm={() => remove.mutate()}
      onClose={onClose}
    />
  );
}
