/** Takes a step out of the catalog, after telling what will lack it. */

import { api } from "../../api/client";
import type { Removal, Step } from "../../api/goals";
import { currentNamespace } from "../../api/namespace";
import { useRequest } from "../../api/use-request";
import { Button } from "../../components/Button";
import { CopyAs } from "../../components/CopyAs";
import { Dialog } from "../../components/Dialog";
import { ErrorBox } from "../../components/ErrorBox";
import { toast } from "../../shell/toasts";
import { type CatalogIndex, leftWithout } from "./catalog-index";
import { unregistering } from "./requests";

interface UnregisterDialogProps {
  step: Step;
  catalog: CatalogIndex;
  onClose: () => void;
  onDone: () => void;
}

export function UnregisterDialog({ step, catalog, onClose, onDone }: UnregisterDialogProps) {
  const { busy, error, send } = useRequest();
  const { orphans, flows } = leftWithout(catalog, step.id);
  const submit = () =>
    send(async () => {
      await api.delete<Removal>(`/catalog/${encodeURIComponent(step.id)}`);
      toast({ kind: "ok", text: `Unregistered ${step.id}` });
      onClose();
      onDone();
    });
  return (
    <Dialog
      title={`Unregister ${step.name}?`}
      onClose={onClose}
      onSubmit={submit}
      footer={
        <>
          <CopyAs up action={unregistering(step.id, currentNamespace())} />
          <span className="grow" />
          <Button onClick={onClose}>Cancel</Button>
          <Button type="submit" look="danger" busy={busy}>
            Unregister
          </Button>
        </>
      }
    >
      <p>New runs can't use it any more. Runs that have started keep it.</p>
      {orphans.length === 0 && flows.length === 0 && <p className="muted">No other step depends on it.</p>}
      {orphans.length > 0 && (
        <section className="stack tight" aria-label="Left without a provider">
          <h3>Left without a provider</h3>
          <ul className="left-without">
            {orphans.map(([name, consumers]) => (
              <li key={name}>
                <code>{name}</code> <span className="faint">has no other provider and is used by</span>{" "}
                {consumers.map((id) => (
                  <code key={id} className="chip">
                    {id}
                  </code>
                ))}
              </li>
            ))}
          </ul>
        </section>
      )}
      {flows.length > 0 && (
        <section className="stack tight" aria-label="Flow steps that have it as a goal">
          <h3>Flow steps that have it as a goal</h3>
          <p className="row wrap">
            {flows.map((id) => (
              <code key={id} className="chip">
                {id}
              </code>
            ))}
          </p>
        </section>
      )}
      {error && <ErrorBox error={error} title="Not unregistered" />}
    </Dialog>
  );
}
