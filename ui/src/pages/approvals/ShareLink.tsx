/** A signed link by which a person without an account can decide, once. */

import { useState } from "react";
import { api } from "../../api/client";
import type { Approval, SignedLink } from "../../api/types";
import { useRequest } from "../../api/use-request";
import { Button } from "../../components/Button";
import { copyText } from "../../components/clipboard";
import { Dialog } from "../../components/Dialog";
import { ErrorBox } from "../../components/ErrorBox";
import { SelectField, TextField } from "../../components/Field";
import { absolute } from "../../components/format";
import { countsVoters } from "./voting";

const HOUR = 3600;
const SPANS: [number, string][] = [
  [HOUR, "1 hour"],
  [24 * HOUR, "1 day"],
  [7 * 24 * HOUR, "7 days"],
];

export function ShareLink({ approval, onClose }: { approval: Approval; onClose: () => void }) {
  const [expires, setExpires] = useState(24 * HOUR);
  const [voter, setVoter] = useState(approval.approvers?.[0] ?? "");
  const [link, setLink] = useState<SignedLink>();
  const { busy, error, send } = useRequest();
  const make = async () => {
    const path = `/approvals/${encodeURIComponent(approval.id)}/link`;
    setLink(
      await api.post<SignedLink>(
        path,
        { expires_in: expires, by: voter || undefined },
        { namespace: approval.namespace },
      ),
    );
  };
  const named = countsVoters(approval);
  const url = link && new URL(link.url, window.location.origin).href;
  return (
    <Dialog
      title="Share a link"
      onClose={onClose}
      onSubmit={() => (url ? void copyText(url, "the link") : send(make))}
      footer={
        <>
          <span className="grow" />
          <Button onClick={onClose}>Close</Button>
          <Button type="submit" look="primary" icon={url ? "copy" : undefined} busy={busy}>
            {url ? "Copy link" : "Create link"}
          </Button>
        </>
      }
    >
      <p className="muted">
        {named
          ? `Whoever has this link votes on “${approval.title}” as the person it is for, without signing in.`
          : `Anyone with this link can decide “${approval.title}” without signing in.`}{" "}
        It can be used once.
      </p>
      {link && url ? (
        <TextField
          label="Link"
          hint={`until ${absolute(link.expires_at)}`}
          readOnly
          value={url}
          onFocus={(event) => event.target.select()}
        />
      ) : (
        <>
          {named && <Voter approval={approval} value={voter} onChange={setVoter} />}
          <SelectField label="Expires in" value={expires} onChange={(event) => setExpires(Number(event.target.value))}>
            {SPANS.map(([seconds, words]) => (
              <option key={seconds} value={seconds}>
                {words}
              </option>
            ))}
          </SelectField>
        </>
      )}
      {error && <ErrorBox error={error} />}
    </Dialog>
  );
}

interface VoterProps {
  approval: Approval;
  value: string;
  onChange: (name: string) => void;
}

/** Whose vote the link is. */
function Voter({ approval: { approvers = [] }, value, onChange }: VoterProps) {
  if (approvers.length === 0)
    return <TextField label="For" required value={value} onChange={(event) => onChange(event.target.value)} />;
  return (
    <SelectField label="For" value={value} onChange={(event) => onChange(event.target.value)}>
      {approvers.map((name) => (
        <option key={name} value={name}>
          {name}
        </option>
      ))}
    </SelectField>
  );
}
