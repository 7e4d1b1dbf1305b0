import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { api, call } from "../../api.ts";
import { Button } from "../../parts/button.tsx";
import { Confirm, Dialog } from "../../parts/dialog.tsx";
import { ErrorPanel, Skeleton } from "../../parts/loaded.tsx";
import stack from "../../parts/stack.module.css";
import { PEOPLE_KEY, type Person, personWaysQuery } from "../../queries/operator.ts";

interface WaysDialogProps {
  readonly person: Person;
  readonly onClose: () => void;
}

interface Way {
  readonly id: string;
  readonly name: string;
}

/** How a person may sign in, for an operator who takes away what is lost or stolen. Nothing is added here. */
export function WaysDialog({ person, onClose }: WaysDialogProps) {
  const { data, error, refetch } = useQuery(personWaysQuery(person.id));
  const [removed, setRemoved] = useState<Way>();
  if (removed) return <RemoveWay person={person} way={removed} onClose={() => setRemoved(undefined)} />;
  const ways: readonly Way[] = data
    ? [
        ...(data.second_factor ? [{ id: "second-factor", name: "The second factor of the password" }] : []),
        ...data.identities.map(({ id, provider, email }) => ({ id, name: `${provider}: ${email ?? id}` })),
        ...data.passkeys.map(({ id, name }) => ({ id, name: `The passkey ${name}` })),
      ]
    : [];
  return (
    <Dialog
      title={`How ${person.name} signs in`}
      note={
        data?.password
          ? "By a password, which its person alone replaces, and by what is here."
          : "By what is here; there is no password."
      }
      isOpen
      onClose={onClose}
    >
      {error && <ErrorPanel error={error} onRetry={() => void refetch()} />}
      {!data && !error && <Skeleton lines={2} />}
      {data && ways.length === 0 && <p className={stack.soft}>Nothing beside it.</p>}
      {ways.map((way) => (
        <p key={way.id} className={stack.line}>
          {way.name}
          <Button
            look="danger"
            size="small"
            aria-label={`Take away: ${way.name}`}
            onClick={() => setRemoved(way)}
          >
            Take away
          </Button>
        </p>
      ))}
    </Dialog>
  );
}

function RemoveWay({ person, way, onClose }: WaysDialogProps & { readonly way: Way }) {
  return (
    <Confirm
      title={`${way.name} of ${person.name}: take it away?`}
      note="Also where it is the only way to sign in. The person is signed out of every browser. The audit trail says who did it."
      action="Take away"
      act={() =>
        call(() => api.operator.people({ person: person.id })["sign-in-ways"]({ way: way.id }).delete())
      }
      renews={[PEOPLE_KEY]}
      done="Taken away"
      isDanger
      onClose={onClose}
    />
  );
}
