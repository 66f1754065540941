/** Deletes what is saved under a name, if that is still what the page shows. */

import { api } from "../../api/client";
import { withQuery } from "../../api/namespace";
import type { Deleted } from "../../api/schema";
import type { Definition } from "../../api/types";
import { useRequest } from "../../api/use-request";
import { Button } from "../../components/Button";
import { CopyAs } from "../../components/CopyAs";
import { Dialog } from "../../components/Dialog";
import { ErrorBox } from "../../components/ErrorBox";
import { navigate } from "../../shell/router";
import { toast } from "../../shell/toasts";

export function DeleteDefinition({ definition, onClose }: { definition: Definition; onClose: () => void }) {
  const { name, saved, offers = [] } = definition;
  const { busy, error, send } = useRequest();
  const path = withQuery(`/definitions/${encodeURIComponent(name)}`, { expected: saved });
  const submit = () =>
    send(async () => {
      await api.delete<Deleted>(path);
      toast({ kind: "ok", text: `Deleted ${name}` });
      navigate("/definitions");
    });
  return (
    <Dialog
      title={`Delete ${name}?`}
      onClose={onClose}
      onSubmit={submit}
      footer={
        <>
          <CopyAs up action={{ method: "DELETE", path }} />
          <span className="grow" />
          <Button onClick={onClose} data-autofocus>
            Cancel
          </Button>
          <Button type="submit" look="danger" busy={busy}>
            Delete
          </Button>
        </>
      }
    >
      <p>
        It can't be started any more, in any of its versions. Runs that have started continue, and their versions can
        still be read. Saving it again brings it back.
      </p>
      {offers.length > 0 && <p>Deleted with it: {offers.join(", ")}.</p>}
      {error && <ErrorBox error={error} title="Not deleted" />}
    </Dialog>
  );
}
